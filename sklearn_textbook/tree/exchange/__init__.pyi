from .convert import to_sklearn as to_sklearn
from .encoder import add_columns as add_columns
from .fitted_shell import fit_on_codes as fit_on_codes
from .fitted_shell import share_parameters as share_parameters
from .sklearn_tree import make_sklearn_tree as make_sklearn_tree
