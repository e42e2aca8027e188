#include "optimas/Propose/Proposer.h"
