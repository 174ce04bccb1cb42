#include "device/cpu/machine.h"

#include <gtest/gtest.h>

#include <string>

#include "base/os.h"
#include "device/cpu/cpu_model.h"
#include "device/cpu/every_isa.h"
#include "device/cpu/isa_support.h"

namespace mica {
namespace {

TEST(MachineDescription, ThisOne) {
  auto machine = describe_machine();
  ASSERT_TRUE(machine.ok());
  EXPECT_TRUE(supports(machine->isa));
  EXPECT_EQ(machine->threads, default_threads());
  EXPECT_GE(machine->l1d, 4u << 10);
  EXPECT_GE(machine->l2, machine->l1d);
  EXPECT_GE(machine->l3, machine->l2);
  EXPECT_FALSE(machine->model.empty());
}

TEST(MachineDescription, Options) {
  const Isa plainest = every_isa().front();
  auto machine = describe_machine({.isa = name_of(plainest), .threads = 7});
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->isa, plainest);
  EXPECT_EQ(machine->threads, 7);
  EXPECT_EQ(describe_machine({.isa = "nonsense"}).error().code(), Code::kUsage);
  EXPECT_EQ(describe_machine({.threads = -1}).error().code(), Code::kUsage);
}

TEST(CpuModels, Spellings) {
  EXPECT_EQ(cpu_model("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some  CPU @ 2.00GHz \nflags : a\n").view(),
            "Some CPU @ 2.00GHz");
  EXPECT_EQ(cpu_model("processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n").view(),
            "Arm implementer 0x41 part 0xd0c");
  EXPECT_EQ(cpu_model("CPU implementer : 0x41\nHardware : Board 4\n").view(), "Board 4");
  EXPECT_EQ(cpu_model("").view(), "unknown processor");
  EXPECT_EQ(cpu_model("model name").view(), "unknown processor");
  EXPECT_EQ(cpu_model("model name :\nmodel name : \n").view(), "unknown processor");
  EXPECT_EQ(cpu_model("model name : " + std::string(200, 'x')).view(), std::string(63, 'x'));
}

}  // namespace
}  // namespace mica
