from . import criteria as criteria
from . import datasets as datasets
from . import decomposition as decomposition
from . import discriminant_analysis as discriminant_analysis
from . import ensemble as ensemble
from . import exchange as exchange
from . import inspection as inspection
from . import io as io
from . import linear_model as linear_model
from . import tree as tree

__version__: str
