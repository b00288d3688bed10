// SPDX-License-Identifier: Apache-2.0

/// The request for which a task runs. Lines of the log name it.
package struct RequestTrace: Sendable {
    /// Nil in work that is done for no single request.
    @TaskLocal package static var current: RequestTrace?

    /// The name of the request, which its client knows as well.
    package let uuid: RequestUUID
    /// Nil if nobody wants to know where its time goes.
    package let notes: RequestNotes?

    package init(_ uuid: RequestUUID, notes: RequestNotes? = nil) {
        self.uuid = uuid
        self.notes = notes
    }
}
