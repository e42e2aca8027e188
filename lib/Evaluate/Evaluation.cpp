#include "optimas/Evaluate/Evaluation.h"
