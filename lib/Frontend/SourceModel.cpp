#include "optimas/Frontend/SourceModel.h"
