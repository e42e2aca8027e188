#include "optimas/Analysis/Diagnosis.h"
