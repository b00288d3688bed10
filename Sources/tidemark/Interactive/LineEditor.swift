// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEdit
internal import Glibc
internal import Synchronization
internal import TidemarkAdmin

/// Lines that somebody types at the terminal of this process, edited with libedit. For one thread.
final class LineEditor {
    enum Input {
        case line(String)
        /// Ctrl-C.
        case abandoned
        /// Ctrl-D, or the terminal is gone.
        case end
    }

    private let editor: OpaquePointer
    private let lines: OpaquePointer
    private let complete: (_ text: String) -> ConsoleCompletion
    /// What libedit asks for while it edits a line.
    private var prompt: UnsafeMutablePointer<CChar>?
    /// The lines before, which the one that is typed goes on with.
    private var begun = ""
    private var isAbandoned = false

    /// The modes of the terminal before the first line, for whoever ends the process.
    private static let modes = Mutex<termios?>(nil)

    /// - Parameters:
    ///   - history: earlier lines, the oldest first.
    ///   - complete: is given what is typed up to the cursor.
    /// - Throws: ``AdminFailure`` if there is no memory for it.
    init(
        history: [String], historyCount: Int, complete: @escaping (_ text: String) -> ConsoleCompletion
    ) throws(AdminFailure) {
        var modes = termios()
        if tcgetattr(STDIN_FILENO, &modes) == 0 { Self.modes.withLock { $0 = modes } }
        tidemark_edit_use_locale()
        let editor = tidemark_edit_create(
            "tidemark", { LineEditor.owner($0)?.prompt }, { editor, _ in LineEditor.completeWord(editor) },
            { editor, _ in LineEditor.abandonLine(editor) })
        guard let editor, let lines = history_init() else {
            throw AdminFailure(.fault, "The terminal cannot be used for editing: there is no memory.")
        }
        (self.editor, self.lines, self.complete) = (editor, lines, complete)
        tidemark_edit_set_owner(editor, Unmanaged.passUnretained(self).toOpaque())
        tidemark_edit_use_history(editor, lines, Int32(historyCount))
        for line in history { tidemark_edit_add_history(lines, line) }
    }

    deinit {
        el_end(editor)
        history_end(lines)
        free(prompt)
    }

    /// Gives the terminal back its modes. For whoever ends the process while a line is edited.
    static func restoreTerminal() {
        if var modes = modes.withLock({ $0 }) { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    }

    /// Reads a line, without its end.
    ///
    /// - Parameter begun: the lines that it goes on with, for completion.
    func read(prompt text: String, after begun: String) -> Input {
        free(prompt)
        prompt = strdup(text)
        self.begun = begun
        isAbandoned = false
        // The window may have another size since the last line.
        el_resize(editor)
        var count: Int32 = 0
        guard let bytes = el_gets(editor, &count), count > 0 else {
            tidemark_edit_print(isAbandoned ? "^C\n" : "\n")
            return isAbandoned ? .abandoned : .end
        }
        let line = String(cString: bytes)
        return .line(line.last?.isNewline == true ? String(line.dropLast()) : line)
    }

    func remember(_ line: String) { tidemark_edit_add_history(lines, line) }

    private static func owner(_ editor: OpaquePointer?) -> LineEditor? {
        tidemark_edit_owner(editor).map { Unmanaged<LineEditor>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func abandonLine(_ editor: OpaquePointer?) -> UInt8 {
        owner(editor)?.isAbandoned = true
        return UInt8(CC_EOF)
    }

    private static func completeWord(_ editor: OpaquePointer?) -> UInt8 {
        guard let owner = owner(editor), let line = el_line(editor)?.pointee,
            let start = line.buffer, let cursor = line.cursor
        else { return UInt8(CC_ERROR) }
        let typed = UnsafeRawBufferPointer(start: start, count: cursor - start)
        let completion = owner.complete(owner.begun + String(decoding: typed, as: UTF8.self))
        if !completion.insertion.isEmpty {
            return UInt8(el_insertstr(editor, completion.insertion) == 0 ? CC_REFRESH : CC_ERROR)
        }
        guard !completion.choices.isEmpty else { return UInt8(CC_REFRESH_BEEP) }
        tidemark_edit_print("\n" + completion.choices.map(\.inOneLine).joined(separator: "  ") + "\n")
        return UInt8(CC_REDISPLAY)
    }
}
