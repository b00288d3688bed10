// SPDX-License-Identifier: Apache-2.0

/// One record of an input: the values of its columns by name, or why it cannot be read.
struct InputRow {
    /// The line where it begins, from 1.
    let line: Int
    let values: Result<[String: InputValue], InputMistake>
}

/// Why one record of an input is not imported: a sentence for the person who corrects the input.
struct InputMistake: Error, Equatable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// A value in the input's own types. CSV has only texts.
enum InputValue: Equatable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case truth(Bool)
    case list([InputValue])
    /// A value that no field can hold.
    case object

    /// The form in messages.
    var description: String {
        switch self {
        case .text(let text): text.count > 60 ? "\"\(text.prefix(60))…\"" : "\"\(text)\""
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .truth(let truth): "\(truth)"
        case .list: "a list"
        case .object: "an object"
        }
    }
}

/// Reads the records of a file, one after the other.
protocol InputReader {
    /// Nil at the end.
    mutating func next() throws(AdminFailure) -> InputRow?
}

enum InputLimits {
    /// Bytes of one record of an input: more than any record may have. If there are more, the file is not what it seems
    /// to be.
    static let rowBytesMax = 4_194_304
    /// Bytes of a line that has a whole record with the types of its fields: 16 times what is stored of a record
    /// (`Limits.storedBytesMax`). A control character takes six bytes in JSON, and a short reference some ten times its own.
    static let recordLineBytesMax = 268_435_456
    /// Over a server, whose memory it takes: twice what is stored of a record.
    private static let servedLineBytesMax = 33_554_432

    /// Bytes of a line that has a whole record.
    static func lineBytesMax(on screen: Screen) -> Int {
        screen.hasLocalFiles ? recordLineBytesMax : servedLineBytesMax
    }
}
