// SPDX-License-Identifier: Apache-2.0

/// The JSON of `query-records`, in parts: very many records are never in memory at once. A short answer comes as a whole when
/// the last record was read.
struct CKToolRecordsText {
    private var text = "{\n  \"records\": "
    private var count = 0

    /// What may wait.
    static let bytesMax = 1 << 20

    /// - Returns: what is to be written now; nil: nothing.
    mutating func add(_ records: [OutputValue]) -> String? {
        for record in records {
            text += (count == 0 ? "[" : ",") + "\n    " + CKToolJSONText.text(record, indent: "    ")
            count += 1
        }
        guard text.utf8.count >= Self.bytesMax else { return nil }
        defer { text = "" }
        return text
    }

    /// - Returns: the rest.
    mutating func end(continuationToken: String?) -> String {
        text += count == 0 ? "[]" : "\n  ]"
        if let continuationToken { text += ",\n  \"continuationToken\": \(JSONForm.string(continuationToken))" }
        defer { text = "" }
        return text + "\n}\n"
    }
}
