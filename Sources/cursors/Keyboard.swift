// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The keys of a terminal, each as it is pressed.
enum Keyboard {
    /// Ctrl-C, which comes as a key.
    static let interrupt: UInt8 = 3

    /// - Returns: how the terminal was; nil if there is none.
    static func take() -> termios? {
        var before = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        return before
    }

    static func giveBack(_ before: termios) {
        var before = before
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// Ends with the input.
    static var keys: AsyncStream<UInt8> {
        AsyncStream { continuation in
            FileHandle.standardInput.readabilityHandler = { input in
                let bytes = input.availableData
                for byte in bytes { continuation.yield(byte) }
                guard bytes.isEmpty else { return }
                input.readabilityHandler = nil
                continuation.finish()
            }
        }
    }
}
