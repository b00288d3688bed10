// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// With errors that the server answered: the request's UUID, as a string. CloudKit has a value under the same key, and
/// documents it nowhere.
///
/// The server's log names the request by it.
public let TidemarkErrorRequestUUIDKey = "RequestUUID"

extension CKError {
    /// The UUID of the request that failed. The server's log has it too, so give it to the server's operator.
    ///
    /// Nil if the server did not answer. A `partialFailure` has one if all its items failed in one request. A request that is sent
    /// again over another connection has another one.
    public var requestUUID: UUID? {
        (userInfo[TidemarkErrorRequestUUIDKey] as? String).flatMap(UUID.init(uuidString:))
    }
}

extension CKError {
    /// The text for people, with the request's UUID at its end.
    static func text(_ text: String, requestUUID uuid: String) -> String {
        let end = "(request UUID \(uuid))"
        // An error that is made from another one has its text.
        return text.hasSuffix(end) ? text : "\(text) \(end)"
    }

    /// The request in which all of these failed. Nil if there were several, or none.
    static func commonRequest(of errors: some Collection<any Error>) -> String? {
        let uuids = Set(errors.map { ($0 as? CKError)?.userInfo[TidemarkErrorRequestUUIDKey] as? String })
        return uuids.count == 1 ? uuids.first ?? nil : nil
    }
}
