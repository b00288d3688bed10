// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkTestSettings

/// `make test-threads`.
package enum ThreadSanitizer {
    /// Whether this run is one with it: programs are slower then, and have its memory besides their own.
    package static var isOn: Bool { tidemark_is_thread_sanitized() != 0 }
}
