#include "support/run_tests.h"

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    return faceter::testing::run_tests(argc, argv);
}
