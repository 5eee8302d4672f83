import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.meta.AdaBoostM1;
import weka.core.Instances;
import weka.core.Utils;

/** Writes the members' weights of AdaBoostM1 for every line of options. */
public class AdaBoostOracle {
  static class Open extends AdaBoostM1 {
    String listWeights() {
      StringBuilder text = new StringBuilder();
      for (int round = 0; round < m_NumIterationsPerformed; round++) {
        text.append(m_Betas[round]).append(' ');
      }
      return text.toString();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Instances table;
    try (BufferedReader file = new BufferedReader(new FileReader(arguments[0]))) {
      table = new Instances(file);
    }
    table.setClassIndex(table.numAttributes() - 1);
    try (BufferedReader runs = new BufferedReader(new FileReader(arguments[1]));
        PrintWriter answers = new PrintWriter(arguments[2], "UTF-8")) {
      for (String run = runs.readLine(); run != null; run = runs.readLine()) {
        Open boosting = new Open();
        boosting.setOptions(Utils.splitOptions(run));
        boosting.buildClassifier(table);
        answers.println(boosting.listWeights());
      }
    }
  }
}
