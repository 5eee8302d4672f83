import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.meta.MultiClassClassifier;
import weka.core.Instances;
import weka.core.Utils;

/** Writes the class distribution of every row for every line of options. */
public class OutputCodeOracle {
  public static void main(String[] arguments) throws Exception {
    Instances table;
    try (BufferedReader file = new BufferedReader(new FileReader(arguments[0]))) {
      table = new Instances(file);
    }
    table.setClassIndex(table.numAttributes() - 1);
    try (BufferedReader runs = new BufferedReader(new FileReader(arguments[1]));
        PrintWriter answers = new PrintWriter(arguments[2], "UTF-8")) {
      for (String run = runs.readLine(); run != null; run = runs.readLine()) {
        MultiClassClassifier codes = new MultiClassClassifier();
        codes.setOptions(Utils.splitOptions(run));
        codes.buildClassifier(table);
        for (int row = 0; row < table.numInstances(); row++) {
          for (double share : codes.distributionForInstance(table.instance(row))) {
            answers.print(share + " ");
          }
        }
        answers.println();
      }
    }
  }
}
