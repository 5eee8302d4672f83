import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.trees.J48;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;

/** Grows a J48 tree for every line "file, tab, options" of a list of runs. */
public class J48Oracle {
  public static void main(String[] arguments) throws Exception {
    String path = null;
    Instances table = null;
    try (BufferedReader runs = new BufferedReader(new FileReader(arguments[0]));
        PrintWriter answers = new PrintWriter(arguments[1], "UTF-8")) {
      for (String run = runs.readLine(); run != null; run = runs.readLine()) {
        String[] parts = run.split("\t", -1);
        if (!parts[0].equals(path)) {
          path = parts[0];
          try (BufferedReader file = new BufferedReader(new FileReader(path))) {
            table = new Instances(file);
          }
          table.setClassIndex(table.numAttributes() - 1);
        }
        J48 tree = new J48();
        tree.setOptions(Utils.splitOptions(parts[1]));
        tree.buildClassifier(table);
        String[] text = tree.toString().split("\n", -1);
        answers.printf(
            "%.0f %.0f %d %d%n",
            tree.measureNumLeaves(),
            tree.measureTreeSize(),
            text.length,
            table.numInstances());
        for (String line : text) {
          answers.println(line);
        }
        for (int row = 0; row < table.numInstances(); row++) {
          Instance instance = table.instance(row);
          answers.print((int) tree.classifyInstance(instance));
          for (double share : tree.distributionForInstance(instance)) {
            answers.print(" " + share);
          }
          answers.println();
        }
      }
    }
  }
}
