// SPDX-License-Identifier: Apache-2.0

/// The request for which a task runs. Lines of the log name it.
package struct RequestTrace: Sendable, Equatable {
    /// Nil in work that is done for no single request.
    @TaskLocal package static var current: RequestTrace?

    /// The session's number in this server.
    package let session: UInt64
    /// The request's number, which the client chose.
    package let id: UInt64

    package init(session: UInt64, id: UInt64) {
        self.session = session
        self.id = id
    }
}
