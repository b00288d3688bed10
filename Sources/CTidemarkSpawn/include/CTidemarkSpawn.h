// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

/// A program to start. Everything it points at must stay valid during the call of tidemark_spawn.
struct tidemark_spawn {
    /// Absolute path of the program, its arguments and its whole environment, both ended by NULL.
    const char *path;
    char *const *arguments;
    char *const *environment;
    /// The user to become, if switch_user is not 0 (only root can).
    int switch_user;
    uid_t user;
    gid_t group;
    /// Becomes standard output and standard error of the program; its standard input is empty.
    int log_descriptor;
    /// Becomes descriptor 3 of the program, -1 for none. No other descriptor is inherited.
    int directory_descriptor;
    /// The signal that the program gets when the calling thread ends, however it ends.
    int death_signal;
};

/// Starts a program in a session of its own.
///
/// Returns its process id; or, if it could not be started, the negated errno of the step that failed.
/// NB: the kernel's parent-death signal is sent when the *thread* that forked ends, so call this from a thread that lives
/// as long as the program may (prctl(2), PR_SET_PDEATHSIG).
pid_t tidemark_spawn(const struct tidemark_spawn *spawn);
