// Files that fail. Each check runs in a process of its own, as an unprivileged user where this one is the system's.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>

#include "convert/convert.h"
#include "convert/write.h"
#include "faults.h"
#include "runtime/load.h"
#include "runtime/session.h"

namespace mica::faults {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kNobody = 65534;

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// The check must find what it looks for, in a process that a fault cannot take the others with.
void check(const std::string& name, const std::function<bool()>& run) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(3);
    alarm(60);
    const bool good = run();
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  verdict(WIFEXITED(status) && WEXITSTATUS(status) == 0, "files: " + name);
}

// The error is of this code and names the file.
bool is(const Error& error, Code code, const std::string& path) {
  char text[1024];
  error.print(text, sizeof text);
  const bool good = error.code() == code && std::string_view(text).find(path) != std::string_view::npos;
  if (!good) std::fputs(text, stdout);
  return good;
}

Lowered lower_model(const std::string& onnx) {
  ConvertReport report;
  Source source;
  source.bytes = std::as_bytes(std::span(onnx.data(), onnx.size()));
  return convert(source, {}, report).take();
}

bool load_gives(const std::string& path, Code code) {
  Context context;
  context.machine = describe_machine({.threads = 1}).take();
  Result<Model*> model = load_model(context, path);
  if (model.ok()) (*model)->drop();
  if (model.ok()) return code == Code::kOk;
  return is(model.error(), code, path);
}

bool convert_gives(const std::string& path, Code code) {
  ConvertReport report;
  Source source;
  source.path = path;
  Result<Lowered> lowered = convert(source, {}, report);
  return lowered.ok() ? code == Code::kOk : is(lowered.error(), code, path);
}

// Every length of a `.mica` file, up to some hundreds; an ONNX file may be a whole one when cut between fields.
bool cut_off(const std::string& folder, const std::string& onnx, const std::string& mica) {
  const std::string path = folder + "/cut";
  const size_t step = mica.size() / 400 + 1;
  for (size_t n = 0; n < mica.size(); n += n < 600 ? 7 : step) {
    write_text(path, mica.substr(0, n));
    if (!load_gives(path, Code::kBadFile)) return std::printf("with %zu bytes\n", n), false;
  }
  for (size_t n = 0; n < onnx.size(); n += onnx.size() / 100 + 1) {
    write_text(path, onnx.substr(0, n));
    ConvertReport report;
    Source source;
    source.path = path;
    Result<Lowered> lowered = convert(source, {}, report);
    if (!lowered.ok() && lowered.error().code() == Code::kInternal) return is(lowered.error(), Code::kBadModel, path);
  }
  return true;
}

// Writing fails with kIo, the old file has its bytes, and nothing else is left in the folder.
bool old_stays(const Lowered& lowered, const std::string& path, const std::string& old) {
  const auto names = [&] { return std::distance(fs::directory_iterator(fs::path(path).parent_path()), {}); };
  const auto before = names();
  Result<FileSizes> written = write_mica(lowered.plan, path);
  if (written.ok()) return std::puts("the file was written"), false;
  return is(written.error(), Code::kIo, path) && read_text(path) == old && names() == before;
}

bool full_disk(const Lowered& lowered, const std::string& path, const std::string& old) {
  signal(SIGXFSZ, SIG_IGN);
  for (rlim_t most : {20000, 4096, 1, 0})  // a limit can only be lowered
  {
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    if (!old_stays(lowered, path, old)) return false;
  }
  return true;
}

// Locks are advice on these systems: a reader goes on, a writer puts a new file in the name's place.
bool locked(const Lowered& lowered, const std::string& path, const std::string& old) {
  const int file = open(path.c_str(), O_RDWR);
  if (file < 0 || flock(file, LOCK_EX) != 0) return false;
  const bool loads = load_gives(path, Code::kOk);
  const bool writes = write_mica(lowered.plan, path).ok();
  std::string held(old.size() + 1, '\0');
  const ssize_t got = pread(file, held.data(), held.size(), 0);
  held.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return loads && writes && held == old;
}

bool gone(const Lowered& lowered, const std::string& folder) {
  const std::string path = folder + "/none/model.mica";
  Result<FileSizes> written = write_mica(lowered.plan, path);
  return !written.ok() && is(written.error(), Code::kIo, path) && load_gives(path, Code::kIo) &&
         convert_gives(path, Code::kIo) && load_gives(folder, Code::kIo);
}

// A name that goes while the model is used: the mapping stays.
bool removed_while_used(const std::string& path) {
  Context context;
  context.machine = describe_machine({.threads = 1}).take();
  Result<Model*> model = load_model(context, path, {.verify_weights = false});
  if (!model.ok()) return false;
  fs::remove(path);
  Result<Session*> session = Session::create(**model);
  if (!session.ok()) return false;
  std::vector<OwnedTensor> inputs;
  for (size_t i = 0; i < (*session)->input_count(); ++i) {
    std::vector<int64_t> dims;
    for (Dim d : (*session)->input_type(i).shape.span()) dims.push_back(d.is_fixed() ? d.value() : 1);
    inputs.push_back(OwnedTensor::make((*session)->input_type(i).dtype, dims).take());
    if (!(*session)->set_input(i, inputs.back().view()).ok()) return false;
  }
  const bool ran = (*session)->run().ok();
  Session::destroy(*session);
  (*model)->drop();
  return ran;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_files(const std::string& folder, const std::string& onnx) {
  const Lowered lowered = lower_model(onnx);
  const std::string own = folder + "/files", path = own + "/model.mica";
  fs::create_directory(own);
  fs::permissions(folder, fs::perms::all);
  fs::permissions(own, fs::perms::all);
  if (!write_mica(lowered.plan, path).ok()) return verdict(false, "files: writing");
  const std::string mica = read_text(path);
  const auto as_mode = [&](mode_t mode) {
    write_text(path, mica);
    return chmod(path.c_str(), mode) == 0;
  };
  check("cut off", [&] { return cut_off(own, onnx, mica); });
  check("gone", [&] { return gone(lowered, own); });
  as_mode(0666);
  check("full disk", [&] { return full_disk(lowered, path, mica); });
  as_mode(0666);
  check("locked", [&] { return locked(lowered, path, mica); });
  as_mode(0666);
  check("removed while used", [&] { return removed_while_used(path); });
  as_mode(0444);
  check("read-only file", [&] { return load_gives(path, Code::kOk) && old_stays(lowered, path, mica); });
  as_mode(0000);
  check("unreadable file", [&] { return load_gives(path, Code::kIo) && convert_gives(path, Code::kIo); });
  as_mode(0644);
  fs::permissions(own, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  check("read-only folder", [&] { return old_stays(lowered, path, mica); });
  fs::remove_all(own);
}

}  // namespace mica::faults
