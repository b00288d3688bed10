// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKError: CustomStringConvertible {
    /// For logs: the code with its number, and the text; for a `partialFailure` the errors of its items too.
    public var description: String { "CKError(\(CKErrorText(_nsError).text))" }
}

/// An error of this library in one line for a developer.
struct CKErrorText {
    let text: String
    /// The most errors of items in the text.
    private static let itemsMax = 10

    init(_ error: NSError) {
        let info = error.userInfo
        let code = CKError.Code(rawValue: error.code)
        let name = code.map { "\($0)" } ?? "unknown"
        let words = info[NSLocalizedDescriptionKey] as? String ?? code?.text ?? ""
        text = ["\(name) (\(error.code)): \(words)", Self.retry(info), Self.items(info)].compactMap(\.self)
            .joined(separator: " ")
    }

    private static func retry(_ info: [String: Any]) -> String? {
        (info[CKErrorRetryAfterKey] as? NSNumber).map { "(retry after \($0) s)" }
    }

    /// In order, so that the same error always reads the same.
    private static func items(_ info: [String: Any]) -> String? {
        guard let errors = info[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error], !errors.isEmpty else {
            return nil
        }
        let lines = errors.map { "\(name($0.key)): \(Self.text(of: $0.value))" }.sorted()
        let more = lines.count > itemsMax ? ["and \(lines.count - itemsMax) more"] : []
        return "[" + (lines.prefix(itemsMax) + more).joined(separator: "; ") + "]"
    }

    private static func name(_ key: AnyHashable) -> String {
        switch key.base {
        case let id as CKRecord.ID: id.shortDescription
        case let id as CKRecordZone.ID: id.shortDescription
        default: "\(key.base)"
        }
    }

    private static func text(of error: any Error) -> String {
        let error = error as NSError
        return error.domain == CKErrorDomain ? CKErrorText(error).text : "\(error)"
    }
}
