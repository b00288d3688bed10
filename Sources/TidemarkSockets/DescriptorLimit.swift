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
}
