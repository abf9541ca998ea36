#pragma once
#include <pwd.h>
#include <sys/stat.h>

#include "cli/daemons.h"
#include "common/command.h"

namespace faceter::testing {

/// A real sshd on loopback, of this user, with keys of its own; `config` leads the system's ssh to it under the name "box".
class SshServer {
  public:
    static bool installed() {
        return !system_program("sshd").empty() && !system_program("ssh").empty() && !system_program("ssh-keygen").empty();
    }

    explicit SshServer(const fs::path& folder) : folder_(folder), port_(std::to_string(free_port())) {
        make_directories(folder);
        if (::getuid() == 0) ::mkdir("/run/sshd", 0755);  // where sshd of root wants to be
        for (const char* key : {"host", "user"}) run_command({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", in(key)});
        fs::copy_file(in("user.pub"), in("authorized_keys"));
        write_file_atomic(in("known_hosts"), "[127.0.0.1]:" + port_ + " " + read_file(in("host.pub")));
        write_file_atomic(in("sshd_config"),
                          "Port " + port_ + "\nListenAddress 127.0.0.1\nHostKey " + in("host") + "\nAuthorizedKeysFile " +
                              in("authorized_keys") +
                              "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n");
        write_file_atomic(config(), "Host box\n  HostName 127.0.0.1\n  Port " + port_ + "\n  User " + ::getpwuid(::getuid())->pw_name +
                                        "\n  IdentityFile " + in("user") + "\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
                                        in("known_hosts") + "\n  StrictHostKeyChecking yes\n");
        daemon_ = std::make_unique<Daemon>(std::vector<std::string>{system_program("sshd"), "-D", "-e", "-f", in("sshd_config")},
                                           folder / "sshd.out");
    }
    std::string config() const { return in("config"); }
    bool answers() const { return run_command({"ssh", "-F", config(), "-o", "BatchMode=yes", "--", "box", "true"}, {}, 20).code == 0; }
    std::string said() const { return read_file(folder_ / "sshd.out"); }

  private:
    std::string in(const char* name) const { return (folder_ / name).string(); }
    fs::path folder_;
    std::string port_;
    std::unique_ptr<Daemon> daemon_;
};

}  // namespace faceter::testing
