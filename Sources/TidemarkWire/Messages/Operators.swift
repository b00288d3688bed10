// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Operators.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// What an operator's program sends.
@usableFromInline
package struct WireOperatorClientMessage: WireMessage {
    /// One of these, or none.
    package enum OneOfMessage: Sendable, Equatable {
        case hello(WireOperatorHello)
        case command(WireOperatorCommand)
        case answer(WireOperatorAnswer)
        case fileOpened(WireOperatorFileOpened)
        case filePart(WireOperatorFilePart)
        case taken(WireOperatorTaken)
        case cancel(WireOperatorCancel)
    }

    package var message: OneOfMessage?

    package var hello: WireOperatorHello {
        get {
            if case .hello(let value)? = message { value } else { WireOperatorHello() }
        }
        set { message = .hello(newValue) }
    }

    package var command: WireOperatorCommand {
        get {
            if case .command(let value)? = message { value } else { WireOperatorCommand() }
        }
        set { message = .command(newValue) }
    }

    package var answer: WireOperatorAnswer {
        get {
            if case .answer(let value)? = message { value } else { WireOperatorAnswer() }
        }
        set { message = .answer(newValue) }
    }

    package var fileOpened: WireOperatorFileOpened {
        get {
            if case .fileOpened(let value)? = message { value } else { WireOperatorFileOpened() }
        }
        set { message = .fileOpened(newValue) }
    }

    package var filePart: WireOperatorFilePart {
        get {
            if case .filePart(let value)? = message { value } else { WireOperatorFilePart() }
        }
        set { message = .filePart(newValue) }
    }

    package var taken: WireOperatorTaken {
        get {
            if case .taken(let value)? = message { value } else { WireOperatorTaken() }
        }
        set { message = .taken(newValue) }
    }

    package var cancel: WireOperatorCancel {
        get {
            if case .cancel(let value)? = message { value } else { WireOperatorCancel() }
        }
        set { message = .cancel(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireOperatorClientMessage {
    @usableFromInline package static var elementsInAllMax: Int { 1024 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.hello
                self.message = nil
                try reader.read(&value)
                self.message = .hello(value)
            case 18:
                var value = self.command
                self.message = nil
                try reader.read(&value)
                self.message = .command(value)
            case 26:
                var value = self.answer
                self.message = nil
                try reader.read(&value)
                self.message = .answer(value)
            case 34:
                var value = self.fileOpened
                self.message = nil
                try reader.read(&value)
                self.message = .fileOpened(value)
            case 42:
                var value = self.filePart
                self.message = nil
                try reader.read(&value)
                self.message = .filePart(value)
            case 50:
                var value = self.taken
                self.message = nil
                try reader.read(&value)
                self.message = .taken(value)
            case 58:
                var value = self.cancel
                self.message = nil
                try reader.read(&value)
                self.message = .cancel(value)
            default: try reader.skip(tag, known: 0xFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch message {
        case .hello(let value)?:
            size += 1 + WireSize.message(value)
        case .command(let value)?:
            size += 1 + WireSize.message(value)
        case .answer(let value)?:
            size += 1 + WireSize.message(value)
        case .fileOpened(let value)?:
            size += 1 + WireSize.message(value)
        case .filePart(let value)?:
            size += 1 + WireSize.message(value)
        case .taken(let value)?:
            size += 1 + WireSize.message(value)
        case .cancel(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch message {
        case .hello(let value)?:
            writer.number(10)
            writer.message(value)
        case .command(let value)?:
            writer.number(18)
            writer.message(value)
        case .answer(let value)?:
            writer.number(26)
            writer.message(value)
        case .fileOpened(let value)?:
            writer.number(34)
            writer.message(value)
        case .filePart(let value)?:
            writer.number(42)
            writer.message(value)
        case .taken(let value)?:
            writer.number(50)
            writer.message(value)
        case .cancel(let value)?:
            writer.number(58)
            writer.message(value)
        case nil: break
        }
    }
}

/// The first message.
@usableFromInline
package struct WireOperatorHello: WireMessage {
    /// As `tidemark admin operators issue` showed it.
    package var credential: [UInt8] = []
    /// Of the client, for the server's log: "tidemark/1.2.3".
    package var client = ""

    @usableFromInline package init() {}
}

extension WireOperatorHello {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.credential = try reader.content(atMost: 4_096)
            case 18: self.client = try reader.text(atMost: 256)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !credential.isEmpty {
            size += 1 + WireSize.content(credential)
        }
        if !client.isEmpty {
            size += 1 + WireSize.text(client)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !credential.isEmpty {
            writer.number(10)
            writer.content(credential)
        }
        if !client.isEmpty {
            writer.number(18)
            writer.text(client)
        }
    }
}

/// The command. It follows the hello at once.
@usableFromInline
package struct WireOperatorCommand: WireMessage {
    /// As they were typed, without "tidemark admin", and without options that say where the server is. Those of cktool
    /// are its name, a time zone, and what was typed. Somebody who presses Tab asks for names: "completion-names",
    /// "accounts", "containers", "databases" or "zones", what is typed of the name, and the account if it is known.
    /// Each name is output with a zero byte after it.
    package var arguments: [String] = []
    /// What the context or the environment of the client names, if no argument does. Empty: nothing.
    package var container = ""
    /// "development", "production", or empty.
    package var environment = ""
    /// Whether colours are shown.
    package var hasColor = false
    /// Whether somebody can be asked.
    package var canAsk = false
    /// Whether progress is shown.
    package var showsProgress = false
    /// Bytes of output that the server may send before the first `taken`: at least 65,536.
    package var credit: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireOperatorCommand {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.arguments, atMost: 512, bytesMax: 65_536)
            case 18: self.container = try reader.text(atMost: 1_024)
            case 26: self.environment = try reader.text(atMost: 64)
            case 32: self.hasColor = try reader.flag()
            case 40: self.canAsk = try reader.flag()
            case 48: self.showsProgress = try reader.flag()
            case 56: self.credit = try reader.uint32()
            default: try reader.skip(tag, known: 0xFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in arguments {
            size += 1 + WireSize.text(value)
        }
        if !container.isEmpty {
            size += 1 + WireSize.text(container)
        }
        if !environment.isEmpty {
            size += 1 + WireSize.text(environment)
        }
        if hasColor {
            size += 1 + WireSize.flag(hasColor)
        }
        if canAsk {
            size += 1 + WireSize.flag(canAsk)
        }
        if showsProgress {
            size += 1 + WireSize.flag(showsProgress)
        }
        if credit != 0 {
            size += 1 + WireSize.uint32(credit)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in arguments {
            writer.number(10)
            writer.text(value)
        }
        if !container.isEmpty {
            writer.number(18)
            writer.text(container)
        }
        if !environment.isEmpty {
            writer.number(26)
            writer.text(environment)
        }
        if hasColor {
            writer.number(32)
            writer.flag(hasColor)
        }
        if canAsk {
            writer.number(40)
            writer.flag(canAsk)
        }
        if showsProgress {
            writer.number(48)
            writer.flag(showsProgress)
        }
        if credit != 0 {
            writer.number(56)
            writer.uint32(credit)
        }
    }
}

/// The answer to a question.
@usableFromInline
package struct WireOperatorAnswer: WireMessage {
    /// Nobody answered: the end of the input.
    package var isMissing = false
    package var text = ""

    @usableFromInline package init() {}
}

extension WireOperatorAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.isMissing = try reader.flag()
            case 18: self.text = try reader.text(atMost: 4_096)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if isMissing {
            size += 1 + WireSize.flag(isMissing)
        }
        if !text.isEmpty {
            size += 1 + WireSize.text(text)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if isMissing {
            writer.number(8)
            writer.flag(isMissing)
        }
        if !text.isEmpty {
            writer.number(18)
            writer.text(text)
        }
    }
}

/// The answer to open_file.
@usableFromInline
package struct WireOperatorFileOpened: WireMessage {
    /// Why it cannot be opened; empty: it is open.
    package var failure = ""
    /// As messages name it.
    package var name = ""
    /// Minus one if it is unknown, as for a pipe.
    package var byteCount: Int64 = 0

    @usableFromInline package init() {}
}

extension WireOperatorFileOpened {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.failure = try reader.text(atMost: 4_096)
            case 18: self.name = try reader.text(atMost: 4_096)
            case 24: self.byteCount = try reader.int64()
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !failure.isEmpty {
            size += 1 + WireSize.text(failure)
        }
        if !name.isEmpty {
            size += 1 + WireSize.text(name)
        }
        if byteCount != 0 {
            size += 1 + WireSize.int64(byteCount)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !failure.isEmpty {
            writer.number(10)
            writer.text(failure)
        }
        if !name.isEmpty {
            writer.number(18)
            writer.text(name)
        }
        if byteCount != 0 {
            writer.number(24)
            writer.int64(byteCount)
        }
    }
}

/// The answer to read_file.
@usableFromInline
package struct WireOperatorFilePart: WireMessage {
    /// Why it cannot be read; empty: it was.
    package var failure = ""
    /// Empty at the end.
    package var content: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireOperatorFilePart {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.failure = try reader.text(atMost: 4_096)
            case 18: self.content = try reader.content(atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !failure.isEmpty {
            size += 1 + WireSize.text(failure)
        }
        if !content.isEmpty {
            size += 1 + WireSize.content(content)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !failure.isEmpty {
            writer.number(10)
            writer.text(failure)
        }
        if !content.isEmpty {
            writer.number(18)
            writer.content(content)
        }
    }
}

/// The client has written so many bytes of output, and takes as many more.
@usableFromInline
package struct WireOperatorTaken: WireMessage {
    package var byteCount: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireOperatorTaken {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.byteCount = try reader.uint32()
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if byteCount != 0 {
            size += 1 + WireSize.uint32(byteCount)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if byteCount != 0 {
            writer.number(8)
            writer.uint32(byteCount)
        }
    }
}

/// The command should end.
@usableFromInline
package struct WireOperatorCancel: WireMessage {
    @usableFromInline package init() {}
}

extension WireOperatorCancel {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            try reader.skip(tag, known: 0x0)
        }
    }

    @usableFromInline package var size: Int { 0 }

    @usableFromInline
    package func write(to writer: inout WireWriter) {}
}

/// What a server sends.
@usableFromInline
package struct WireOperatorServerMessage: WireMessage {
    /// One of these, or none.
    package enum OneOfMessage: Sendable, Equatable {
        case output(WireOperatorOutput)
        case question(WireOperatorQuestion)
        case openFile(WireOperatorOpenFile)
        case readFile(WireOperatorReadFile)
        case end(WireOperatorEnd)
    }

    package var message: OneOfMessage?

    package var output: WireOperatorOutput {
        get {
            if case .output(let value)? = message { value } else { WireOperatorOutput() }
        }
        set { message = .output(newValue) }
    }

    package var question: WireOperatorQuestion {
        get {
            if case .question(let value)? = message { value } else { WireOperatorQuestion() }
        }
        set { message = .question(newValue) }
    }

    package var openFile: WireOperatorOpenFile {
        get {
            if case .openFile(let value)? = message { value } else { WireOperatorOpenFile() }
        }
        set { message = .openFile(newValue) }
    }

    package var readFile: WireOperatorReadFile {
        get {
            if case .readFile(let value)? = message { value } else { WireOperatorReadFile() }
        }
        set { message = .readFile(newValue) }
    }

    package var end: WireOperatorEnd {
        get {
            if case .end(let value)? = message { value } else { WireOperatorEnd() }
        }
        set { message = .end(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireOperatorServerMessage {
    @usableFromInline package static var elementsInAllMax: Int { 1024 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.output
                self.message = nil
                try reader.read(&value)
                self.message = .output(value)
            case 18:
                var value = self.question
                self.message = nil
                try reader.read(&value)
                self.message = .question(value)
            case 26:
                var value = self.openFile
                self.message = nil
                try reader.read(&value)
                self.message = .openFile(value)
            case 34:
                var value = self.readFile
                self.message = nil
                try reader.read(&value)
                self.message = .readFile(value)
            case 42:
                var value = self.end
                self.message = nil
                try reader.read(&value)
                self.message = .end(value)
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch message {
        case .output(let value)?:
            size += 1 + WireSize.message(value)
        case .question(let value)?:
            size += 1 + WireSize.message(value)
        case .openFile(let value)?:
            size += 1 + WireSize.message(value)
        case .readFile(let value)?:
            size += 1 + WireSize.message(value)
        case .end(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch message {
        case .output(let value)?:
            writer.number(10)
            writer.message(value)
        case .question(let value)?:
            writer.number(18)
            writer.message(value)
        case .openFile(let value)?:
            writer.number(26)
            writer.message(value)
        case .readFile(let value)?:
            writer.number(34)
            writer.message(value)
        case .end(let value)?:
            writer.number(42)
            writer.message(value)
        case nil: break
        }
    }
}

/// A piece of output: whole characters in UTF-8. A message is one piece.
@usableFromInline
package struct WireOperatorOutput: WireMessage {
    package var stream = WireOperatorStream()
    package var content: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireOperatorOutput {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.stream = try reader.choice()
            case 18: self.content = try reader.content(atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if stream != WireOperatorStream() {
            size += 1 + WireSize.choice(stream)
        }
        if !content.isEmpty {
            size += 1 + WireSize.content(content)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if stream != WireOperatorStream() {
            writer.number(8)
            writer.choice(stream)
        }
        if !content.isEmpty {
            writer.number(18)
            writer.content(content)
        }
    }
}

/// Asks the operator, and waits for `answer`.
@usableFromInline
package struct WireOperatorQuestion: WireMessage {
    package var text = ""

    @usableFromInline package init() {}
}

extension WireOperatorQuestion {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.text = try reader.text(atMost: 16_384)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !text.isEmpty {
            size += 1 + WireSize.text(text)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !text.isEmpty {
            writer.number(10)
            writer.text(text)
        }
    }
}

/// Asks for a file that the operator named in the command, and waits for `file_opened`. The client opens no other file.
@usableFromInline
package struct WireOperatorOpenFile: WireMessage {
    /// As it was typed; "-" for standard input.
    package var path = ""

    @usableFromInline package init() {}
}

extension WireOperatorOpenFile {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.path = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !path.isEmpty {
            size += 1 + WireSize.text(path)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !path.isEmpty {
            writer.number(10)
            writer.text(path)
        }
    }
}

/// Asks for the next part of the file that was opened last, and waits for `file_part`.
@usableFromInline
package struct WireOperatorReadFile: WireMessage {
    /// The file's number: the first that was opened is 0.
    package var file: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireOperatorReadFile {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.file = try reader.uint32()
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if file != 0 {
            size += 1 + WireSize.uint32(file)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if file != 0 {
            writer.number(8)
            writer.uint32(file)
        }
    }
}

/// The command has ended. The server closes the channel.
@usableFromInline
package struct WireOperatorEnd: WireMessage {
    /// As docs/admin.md says. A number that the client does not know is a fault.
    package var status: Int32 = 0

    @usableFromInline package init() {}
}

extension WireOperatorEnd {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.status = try reader.int32()
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if status != 0 {
            size += 1 + WireSize.int32(status)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if status != 0 {
            writer.number(8)
            writer.int32(status)
        }
    }
}

/// Where output goes.
@usableFromInline
package enum WireOperatorStream: WireChoice {
    /// To standard output.
    case data
    /// To standard error. The client adds the line's end.
    case message
    /// On a terminal, a line that the next one replaces. Empty: it goes away. It needs no credit.
    case progress
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .data }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .data
        case 1: self = .message
        case 2: self = .progress
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .data: 0
        case .message: 1
        case .progress: 2
        case .unrecognized(let number): number
        }
    }
}
