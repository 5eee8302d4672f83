"""Templates of source code in C99."""

TEMPLATE = r"""
/*
 * {{about}}
 *
 * Columns of a row, an array of double:
{{columns}}
 *
{{predictions}}
 *
 * Every function returns 0, or 1 + the number of a column whose value is not allowed:
 * an infinite number{{refused}}. Compile with -std=c99, or with
 * -ffp-contract=off, so that sums are rounded as in the model.
 */
#include <math.h>
%if strings
#include <string.h>
%end

enum { N_COLUMNS = {{n_columns}}, N_TREES = {{n_trees}}, WIDTH = {{width}} };
enum { N_SCORES = {{n_scores}}, N_SUMS = {{n_sums}}, N_OUTPUTS = {{n_outputs}} };
%if trees
enum { STAY = -1, FRACTIONAL = -2, REFUSED = -3, UNKNOWN = -4 };
%if kinds
enum { NUMERIC = 1, ORDINAL = 2, NOMINAL = 3, OBLIQUE = 4 };
%end

/* value <= threshold leads to child 0; feature -1 is a leaf. */
typedef struct {
{{test_fields}}
} Test;

/* Children are consecutive from first on; missing is the child of a missing value, or
   STAY or FRACTIONAL; stop is the row of values of a node in which rows end, or -1. */
typedef struct {
    Test test;
{{node_fields}}
} Node;

static const Node nodes[] = {
{{nodes}}
};
%end
%if surrogates

/* Tests for rows whose value is missing: value <= threshold leads to low_branch. */
typedef struct {
    Test test;
    int low_branch;
} Surrogate;

static const Surrogate surrogates[] = {
{{surrogates}}
};
%end
%if oblique

/* Terms of sums of columns: weight * value, or the weight of a level; fill if the value
   is missing. */
typedef struct {
    int feature, level;
    double weight, fill;
} Term;

static const Term terms[] = {
{{terms}}
};
%end
%if maps

%if trees
/* Children of levels: -1 and the child of every level, or a number of levels, these,
   and their children; -1 is a level that the node has not seen. */
%else
/* Places in values of what levels add to the scores; -1 is a level that is refused. */
%end
static const int maps[] = {
{{maps}}
};
%end
%if level_columns

static const int n_levels[] = {
{{n_levels}}
};
%end

static const double values[][WIDTH] = {
{{values}}
};
%if trees

typedef struct {
    int root, score;
    double weight;
} Tree;

static const Tree trees[] = {
{{trees}}
};
%else

/* What columns add to the scores: place is that in values of the factors of a number,
   or the first of its levels in maps; missing and unseen are the places in values of a
   missing value and of other levels, or -1 if they are refused; centre is subtracted
   from a number before. */
typedef struct {
    int feature, n_levels, place, missing, unseen;
    double centre;
} Linear;

static const Linear linear[] = {
{{linear}}
};
%end

static const double start[] = {{{start}}};
{{labels}}
{{encoders}}
%if trees
/* Child of a value that is present, or UNKNOWN. */
static int test_value(const Test *test, int low_branch, double value)
{
%if nominal
    int i, n_pairs, child;
%end
%if levels
    if (test->kind != NUMERIC && !(value >= 0.0 && value < n_levels[test->feature]))
        return UNKNOWN;
%end
%if nominal
    if (test->kind == NOMINAL) {
        n_pairs = maps[test->map];
        child = -1;
        if (n_pairs < 0)
            child = maps[test->map + 1 + (int)value];
        for (i = test->map + 1; i <= test->map + n_pairs; i++)
            if (maps[i] == (int)value)
                child = maps[i + n_pairs];
        return child < 0 ? UNKNOWN : child;
    }
%end
    return value <= test->threshold ? low_branch : 1 - low_branch;
}
%if oblique

/* Child of a sum of columns, or UNKNOWN for a level that it does not know. */
static int test_sum(const Node *node, const double *row, int *column)
{
    int i = node->term, end = node->term + node->n_terms;
%if level_terms
    int place;
%end
    double total = 0.0, value;
    while (i < end) {
        value = row[terms[i].feature];
        *column = terms[i].feature;
%if level_terms
        if (terms[i].level >= 0) {
            place = isnan(value) ? i : -1;
            for (; i < end && terms[i].feature == *column; i++)
                if (terms[i].level == value)
                    place = i;
            if (place < 0)
                return UNKNOWN;
            total += isnan(value) ? terms[place].fill : terms[place].weight;
            continue;
        }
        if (n_levels[*column] > 0 && !isnan(value)
            && !(value >= 0.0 && value < n_levels[*column]))
            return UNKNOWN;
%end
        total += isnan(value) ? terms[i].fill : terms[i].weight * value;
        i++;
    }
    return total <= node->test.threshold ? 0 : 1;
}
%end

/* Child of a row, or STAY, FRACTIONAL or REFUSED; the tested column is written. */
static int find_branch(const Node *node, const double *row, int *column)
{
    double value;
    int branch;
%if surrogates
    int i;
    const Surrogate *other;
%end
%if oblique
    if (node->test.kind == OBLIQUE) {
        branch = test_sum(node, row, column);
        return branch == UNKNOWN ? {{unseen}} : branch;
    }
%end
    *column = node->test.feature;
    value = row[*column];
    if (isnan(value)) {
%if surrogates
        for (i = 0; i < node->n_surrogates; i++) {
            other = &surrogates[node->surrogate + i];
            value = row[other->test.feature];
            if (isnan(value))
                continue;
            branch = test_value(&other->test, other->low_branch, value);
            if (branch != UNKNOWN)
                return branch;
        }
%end
        return node->missing;
    }
    branch = test_value(&node->test, 0, value);
    return branch == UNKNOWN ? {{unseen}} : branch;
}

/* Add to mean what a share of a row gets from a node on. */
static int spread(int number, double share, const double *row, double *mean)
{
    const Node *node = &nodes[number];
    int branch, column = -1, j;
%if fractional
    int child, status;
    double total = 0.0;
%end
    while (node->test.feature >= 0) {
        branch = find_branch(node, row, &column);
%if refuses_unseen
        if (branch == REFUSED)
            return 1 + column;
%end
%if fractional
        if (branch == FRACTIONAL) {
            for (child = 0; child < node->n_children; child++)
                total += nodes[node->first + child].weight;
            for (child = 0; child < node->n_children && total > 0.0; child++) {
                const Node *below = &nodes[node->first + child];
                if (!(below->weight > 0.0))
                    continue;
                status = spread(
                    node->first + child, share * below->weight / total, row, mean);
                if (status)
                    return status;
            }
            if (total > 0.0)
                return 0;
        }
%end
        if (branch < 0)
            break;
        node = &nodes[node->first + branch];
    }
    for (j = 0; j < WIDTH; j++)
        mean[j] += share * values[node->stop][j];
    return 0;
}
%end
%if chooses

/* The first of the largest values, up to a tolerance. */
static int choose(const double *value, int n_values, double tolerance)
{
    int best = 0, i;
    for (i = 1; i < n_values; i++)
        if (value[i] > value[best] + tolerance)
            best = i;
    return best;
}
%end
%if trees

/* Add up what the trees give. */
static int add_up(const double *row, double *sums)
{
    double mean[WIDTH];
    int j, number, status;
%if votes
    int output, n = N_SCORES / N_OUTPUTS;
%end
    for (j = 0; j < N_COLUMNS; j++)
        if (isinf(row[j]){{or_missing}})
            return 1 + j;
    for (j = 0; j < N_SUMS; j++)
        sums[j] = j < N_SCORES ? start[j] : 0.0;
    for (number = 0; number < N_TREES; number++) {
        const Tree *tree = &trees[number];
        for (j = 0; j < WIDTH; j++)
            mean[j] = 0.0;
        status = spread(tree->root, 1.0, row, mean);
        if (status)
            return status;
%if votes
        for (output = 0; output < N_OUTPUTS; output++) {
            j = output * n;
            sums[j + choose(mean + j, n, {{tolerance}})] += tree->weight;
        }
%if ties
        for (j = 0; j < N_SCORES; j++)
            sums[N_SCORES + j] += mean[{{second}} + j];
%end
%else
        for (j = 0; j < WIDTH; j++)
            sums[tree->score + j] += tree->weight * mean[j];
%end
    }
%if divides_first
    for (j = 0; j < N_SCORES; j++)
        sums[j] /= {{divisor}};
%end
    return 0;
}
%else

/* Add up what the columns give. */
static int add_up(const double *row, double *sums)
{
    int i, j, place;
    for (j = 0; j < N_COLUMNS; j++)
        if (isinf(row[j]){{or_missing}})
            return 1 + j;
    for (j = 0; j < N_SUMS; j++)
        sums[j] = j < N_SCORES ? start[j] : 0.0;
    for (i = 0; i < {{n_linear}}; i++) {
        const Linear *term = &linear[i];
        double value = row[term->feature], factor = 1.0;
        place = term->place;
        if (isnan(value))
            place = term->missing;
%if maps
        else if (term->n_levels > 0)
            place = value >= 0.0 && value < term->n_levels
                ? maps[term->place + (int)value] : term->unseen;
%end
        else
            factor = value - term->centre;
%if refuses_unseen
        if (place < 0)
            return 1 + term->feature;
%end
        for (j = 0; j < N_SUMS; j++)
            sums[j] += factor * values[place][j];
    }
    return 0;
}
%end

/* {{about_scores}} */
int {{prefix}}predict_scores(const double *row, double *scores)
{
    double sums[N_SUMS];
    int j, status = add_up(row, sums);
    for (j = 0; j < N_SCORES && !status; j++)
        scores[j] = sums[j]{{last_division}};
    return status;
}
%if classifier
%if has_shares

/* Probabilities of the classes; those of several outputs follow one another. */
int {{prefix}}predict_proba(const double *row, double *probabilities)
{
%if softmax
    double largest, total = 0.0;
    int j;
%end
%if some_shares
    double total = 0.0, scores[N_SCORES];
    int j;
%end
%if one_score
    double score;
    int status = {{prefix}}predict_scores(row, &score);
    if (!status) {
        probabilities[0] = 1.0 / (1.0 + exp({{scale}} * score));
        probabilities[1] = 1.0 / (1.0 + exp({{scale}} * -score));
    }
%else
    int status = {{prefix}}predict_scores(row, probabilities);
%end
%if softmax
    if (status)
        return status;
    largest = probabilities[choose(probabilities, N_SCORES, 0.0)];
    for (j = 0; j < N_SCORES; j++) {
        probabilities[j] = exp({{scale}} * (probabilities[j] - largest));
        total += probabilities[j];
    }
    for (j = 0; j < N_SCORES; j++)
        probabilities[j] /= total;
%end
%if some_shares
    if (status)
        return status;
    for (j = 0; j < N_SCORES; j++) {
        scores[j] = probabilities[j];
        probabilities[j] = scores[j] > 0.0 ? scores[j] : 0.0;
%if clipped_shares
        probabilities[j] = scores[j] < 1.0 ? probabilities[j] : 1.0;
%end
        total += probabilities[j];
    }
    if (!(total > 0.0))
        total = probabilities[choose(scores, N_SCORES, 0.0)] = 1.0;
    for (j = 0; j < N_SCORES; j++)
        probabilities[j] /= total;
%end
    return status;
}
%end

/* Numbers of the predicted classes, one for each output. */
int {{prefix}}predict_classes(const double *row, int *classes)
{
    double sums[N_SUMS];
    int status = add_up(row, sums);
%if one_score
    classes[0] = sums[0] > 0.0;
    return status;
%else
    int output, j, n = N_SCORES / N_OUTPUTS;
%if ties
    int k;
    for (output = 0; output < N_OUTPUTS; output++) {
        j = output * n;
        classes[output] = choose(sums + j, n, 0.0);
        /* Of those with most votes, the one with the largest sum of probabilities. */
        for (k = 0; k < n; k++)
            if (sums[j + k] == sums[j + classes[output]]
                && sums[N_SCORES + j + k] > sums[N_SCORES + j + classes[output]])
                classes[output] = k;
    }
%else
    for (output = 0; output < N_OUTPUTS; output++) {
        j = {{deciding}} + output * n;
        classes[output] = choose(sums + j, n, {{final_tolerance}});
    }
%end
    return status;
%end
}
%if one_output

/* Number of the predicted class; -1 - column if its value is not allowed. */
int {{prefix}}predict(const double *row)
{
    int number, status = {{prefix}}predict_classes(row, &number);
    return status ? -status : number;
}
%end
%else

/* Predicted values, one for each output. */
int {{prefix}}predict_values(const double *row, double *predicted)
{
    int status = {{prefix}}predict_scores(row, predicted);
%if converts
    if (!status) {
        double s = predicted[0];
        predicted[0] = {{value}};
    }
%end
    return status;
}
%if one_output

/* Predicted value; NaN if the value of a column is not allowed. */
double {{prefix}}predict(const double *row)
{
    double value;
    return {{prefix}}predict_values(row, &value) ? (double)NAN : value;
}
%end
%end
""".lstrip()

ENCODE_TEXT = """
/* Code of a level of column {name}; NaN for NULL, a missing value. */
double {function}(const char *level)
{{
    static const char *const levels[] = {{
{levels}
    }};
    static const int codes[] = {{{codes}}};
    int i;
    if (level == NULL)
        return (double)NAN;
    for (i = 0; i < {count}; i++)
        if (strcmp(level, levels[i]) == 0)
            return codes[i];
    return -1.0;
}}
"""
ENCODE_NUMBER = """
/* Code of a level of column {name}; NaN for NaN, a missing value. */
double {function}(double level)
{{
    static const double levels[] = {{
{levels}
    }};
    static const int codes[] = {{{codes}}};
    int i;
    for (i = 0; i < {count}; i++)
        if (level == levels[i])
            return codes[i];
    return isnan(level) ? level : -1.0;
}}
"""

STEPS_TEMPLATE = r"""
/*
 * {{about}}
 *
 * Columns of a row, an array of double:
{{columns}}
 *
{{predictions}}
 *
 * Every function returns 0, or 1 + the number of a column whose value is not allowed;
 * 1 + the number of columns is a step without a result. Compile with -std=c99, or with
 * -ffp-contract=off, so that sums are rounded as in the model.
 */
#include <math.h>
%if strings
#include <string.h>
%end
{{steps}}
enum { N_COLUMNS = {{n_columns}}, N_SCORES = {{n_scores}}, N_OUTPUTS = {{n_outputs}} };
{{labels}}
{{encoders}}
/* The columns of a step among the columns of a row and the results of earlier steps. */
static void {{prefix}}take(
    const double *values, const int *places, int n_places, double *own)
{
    int i;
    for (i = 0; i < n_places; i++)
        own[i] = values[places[i]];
}

/* What a step returns for a column, for the column of the row. */
static int {{prefix}}find_column(int status, const int *places)
{
    int place = status ? places[status - 1] : 0;
    return place < {{n_columns}} ? status ? 1 + place : 0 : 1 + {{n_columns}};
}

/* Read a row as the last step does, with the results of the others. */
static int {{prefix}}read_row(const double *row, double *own, int *status)
{
    static const int places[] = {{{last_places}}};
    double values[{{n_values}}];
    int i;
    for (i = 0; i < {{n_columns}}; i++)
        values[i] = row[i];
    *status = 0;
{{blocks}}
    {{prefix}}take(values, places, {{n_last}}, own);
{{last_codes}}
    return *status;
}

static int {{prefix}}find_last_column(int status)
{
    static const int places[] = {{{last_places}}};
    return {{prefix}}find_column(status, places);
}

/* Scores of the last step. */
int {{prefix}}predict_scores(const double *row, double *scores)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_scores(own, scores));
}
%if classifier
%if has_shares

/* Probabilities of the classes; those of several outputs follow one another. */
int {{prefix}}predict_proba(const double *row, double *probabilities)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_proba(own, probabilities));
}
%end

/* Numbers of the predicted classes, one for each output. */
int {{prefix}}predict_classes(const double *row, int *classes)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_classes(own, classes));
}
%if one_output

/* Number of the predicted class; -1 - column if its value is not allowed. */
int {{prefix}}predict(const double *row)
{
    int number, status = {{prefix}}predict_classes(row, &number);
    return status ? -status : number;
}
%end
%else

/* Predicted values, one for each output. */
int {{prefix}}predict_values(const double *row, double *predicted)
{
    double own[{{n_last}}];
    int status;
    if ({{prefix}}read_row(row, own, &status))
        return status;
    return {{prefix}}find_last_column({{last}}_predict_values(own, predicted));
}
%if one_output

/* Predicted value; NaN if the value of a column is not allowed. */
double {{prefix}}predict(const double *row)
{
    double value;
    return {{prefix}}predict_values(row, &value) ? (double)NAN : value;
}
%end
%end
""".lstrip()

#: One step but the last.
STEP_TEMPLATE = r"""    {
        static const int of_step[] = {{{places}}};
        double own[{{n_own}}];
{{declared}}
        {{prefix}}take(values, of_step, {{n_own}}, own);
{{codes}}
{{calls}}
    }
"""
