// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTidemarkSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Where the child keeps its two descriptors until it has put all others away.
enum { DIRECTORY_DESCRIPTOR = 3, REPORT_DESCRIPTOR = 4 };

static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_on_exec_from(unsigned first) {
    // A kernel before 5.11 does not know the flag, a sandbox may refuse the call: then one by one.
    if (close_range(first, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
    struct rlimit limit;
    unsigned end = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end) end = (unsigned)limit.rlim_cur;
    for (unsigned descriptor = first; descriptor < end; descriptor++) fcntl((int)descriptor, F_SETFD, FD_CLOEXEC);
}

// Puts the report pipe, the directory and the log where the program expects them. The copies above 10 come first, so
// that no dup2 lands on a descriptor that is still needed.
static int arrange_descriptors(const struct tidemark_spawn *spawn, int *report) {
    int copy = fcntl(*report, F_DUPFD, 10);
    int log = fcntl(spawn->log_descriptor, F_DUPFD, 10);
    int directory = spawn->directory_descriptor < 0 ? -1 : fcntl(spawn->directory_descriptor, F_DUPFD, 10);
    if (copy < 0) return -1;
    *report = copy;
    if (log < 0 || (directory < 0 && spawn->directory_descriptor >= 0)) return -1;
    int empty = open("/dev/null", O_RDONLY);
    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0) return -1;
    if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) return -1;
    if (dup2(copy, REPORT_DESCRIPTOR) < 0) return -1;
    *report = REPORT_DESCRIPTOR;
    close_on_exec_from(DIRECTORY_DESCRIPTOR);
    if (directory >= 0 && dup2(directory, DIRECTORY_DESCRIPTOR) < 0) return -1;
    return 0;
}

// Only async-signal-safe calls: the child of a process with threads may do nothing else before exec.
static void become(const struct tidemark_spawn *spawn, pid_t parent, int report) {
    reset_signals();
    // A session of its own: the terminal's Ctrl-C goes to the parent alone, which stops the program in its own order.
    if (setsid() < 0 || arrange_descriptors(spawn, &report) < 0) goto failed;
    umask(077);
    if (chdir("/") < 0) goto failed;
    if (spawn->switch_user) {
        if (setgroups(1, &spawn->group) < 0 || setgid(spawn->group) < 0 || setuid(spawn->user) < 0) goto failed;
    }
    // After setuid, because a change of credentials clears it; then look whether the parent went away before it was set.
    if (prctl(PR_SET_PDEATHSIG, spawn->death_signal) < 0) goto failed;
    if (getppid() != parent) _exit(1);
    execve(spawn->path, spawn->arguments, spawn->environment);
failed:;
    int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}

pid_t tidemark_spawn(const struct tidemark_spawn *spawn) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return -errno;
    // No signal handler of ours may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) become(spawn, parent, report[1]);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        return -error;
    }
    // The end of the pipe without a word means that exec took place.
    ssize_t count;
    do count = read(report[0], &error, sizeof error);
    while (count < 0 && errno == EINTR);
    close(report[0]);
    if (count != (ssize_t)sizeof error) return child;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    return -error;
}
