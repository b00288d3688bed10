// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How many files and sockets the process may have open.
package enum DescriptorLimit {
    /// Raises the limit as far as the system lets the process raise it.
    ///
    /// - Returns: the limit after that.
    package static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1_024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// The limit now.
    package static var current: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// How many the process has open; nil if the kernel does not say. Kernels before 6.2 must be asked for each, which
    /// takes some microseconds each.
    package static var openCount: Int? {
        var folder = stat()
        guard stat("/proc/self/fd", &folder) == 0 else { return nil }
        if folder.st_size > 0 { return folder.st_size }
        guard let entries = opendir("/proc/self/fd") else { return nil }
        defer { closedir(entries) }
        // Itself, the folder above it, and the descriptor that lists it.
        var count = -3
        while readdir(entries) != nil { count += 1 }
        return count
    }
}
