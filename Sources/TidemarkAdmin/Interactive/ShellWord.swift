// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// Names as the completion scripts of shells must get them (R-902). Users choose names, and a script reads more into some
/// characters than a name.
package enum ShellWord {
    /// Words from which a shell makes these names again. A name that could control a terminal is left out.
    ///
    /// - Parameter shell: nil: one that does not say which it is.
    package static func words(of names: [String], for shell: CompletionShell?) -> [String] {
        names.filter { $0 == $0.inOneLine }.map { word(of: $0, for: shell) }
    }

    private static func word(of name: String, for shell: CompletionShell?) -> String {
        switch shell {
        // `_describe` takes what follows a colon for a description.
        case .zsh: name.replacing(#"\"#, with: #"\\"#).replacing(":", with: #"\:"#)
        case .fish: name
        // `compgen -W` expands each word: it would carry out `$(…)`.
        default: quoted(name)
        }
    }

    /// A word that a shell takes as it is.
    static func quoted(_ word: String) -> String {
        !word.isEmpty && word.utf8.allSatisfy(isPlain) ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }

    /// Whether bash reads nothing into it.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
