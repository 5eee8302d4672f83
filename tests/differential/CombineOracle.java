import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.Classifier;
import weka.classifiers.MultipleClassifiersCombiner;
import weka.classifiers.functions.LinearRegression;
import weka.classifiers.meta.StackingC;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;

/**
 * Writes what Weka's combiners give, for every line of class and options.
 * The members learn nothing: they read their predictions from columns of the table.
 */
public class CombineOracle {
  /** Gives the values of some columns as the distribution, or one as the value. */
  static class ColumnReader extends Classifier {
    private final int first;

    ColumnReader(int first) {
      this.first = first;
    }

    public void buildClassifier(Instances table) {}

    public double[] distributionForInstance(Instance row) {
      double[] given = new double[row.numClasses()];
      for (int place = 0; place < given.length; place++) {
        given[place] = row.value(first + place);
      }
      return given;
    }

    public double classifyInstance(Instance row) {
      return row.classAttribute().isNumeric()
          ? row.value(first)
          : Utils.maxIndex(distributionForInstance(row));
    }
  }

  static class Open extends StackingC {
    String listCoefficients() {
      StringBuilder text = new StringBuilder();
      for (Classifier one : m_MetaClassifiers) {
        text.append(join(((LinearRegression) one).coefficients())).append('\t');
      }
      return text.toString();
    }
  }

  static String join(double[] values) {
    StringBuilder text = new StringBuilder();
    for (double value : values) {
      text.append(value).append(' ');
    }
    return text.toString();
  }

  static MultipleClassifiersCombiner make(String name, String options) throws Exception {
    if (name.equals("StackingC")) {
      Open stacking = new Open();
      stacking.setOptions(Utils.splitOptions(options));
      return stacking;
    }
    return (MultipleClassifiersCombiner)
        Classifier.forName("weka.classifiers.meta." + name, Utils.splitOptions(options));
  }

  public static void main(String[] arguments) throws Exception {
    Instances table;
    try (BufferedReader file = new BufferedReader(new FileReader(arguments[0]))) {
      table = new Instances(file);
    }
    table.setClassIndex(table.numAttributes() - 1);
    int nAnswers = table.numClasses();
    Classifier[] members = new Classifier[(table.numAttributes() - 1) / nAnswers];
    for (int number = 0; number < members.length; number++) {
      members[number] = new ColumnReader(number * nAnswers);
    }
    try (BufferedReader runs = new BufferedReader(new FileReader(arguments[1]));
        PrintWriter answers = new PrintWriter(arguments[2], "UTF-8")) {
      for (String run = runs.readLine(); run != null; run = runs.readLine()) {
        String[] words = run.split("\t", 2);
        MultipleClassifiersCombiner combiner = make(words[0], words[1]);
        combiner.setClassifiers(members);
        combiner.buildClassifier(table);
        answers.println(
            combiner instanceof Open ? ((Open) combiner).listCoefficients() : "");
        for (int number = 0; number < table.numInstances(); number++) {
          answers.println(join(combiner.distributionForInstance(table.instance(number))));
        }
      }
    }
  }
}
