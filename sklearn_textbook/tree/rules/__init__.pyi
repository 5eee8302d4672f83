from .build_list import build_rule_list as build_rule_list
from .evaluate import RuleEvaluation as RuleEvaluation
from .evaluate import evaluate_rules as evaluate_rules
from .evaluate import tabulate_rules as tabulate_rules
from .evaluate import write_weight as write_weight
from .predict import find_deciding_rules as find_deciding_rules
from .rule_list import RuleList as RuleList
