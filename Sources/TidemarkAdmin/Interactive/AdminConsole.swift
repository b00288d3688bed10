// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The console: commands one after the other, over one connection. `tidemark admin` alone opens it.
package struct AdminConsole: LocalCommand {
    package static let configuration = CommandConfiguration(
        "console", abstract: "Open the console, or carry out the lines of a script.",
        discussion: """
            On a terminal it has a prompt, a history, and completion by Tab; `help` says what else. Otherwise it carries out \
            the lines of standard input, and ends at the first failure with its status.
            """,
        examples: "tidemark admin", "tidemark admin console --context home")

    @OptionGroup(title: "Options of all commands") package var options: AdminOptions

    package init() {}

    package func validate() throws {
        // The console could go to one, and its commands to the other.
        guard options.context == nil || options.databaseURL == nil else {
            throw ValidationError("A console goes to one place. Give either --context or --database-url.")
        }
    }

    /// Only a console calls it: the program opens the first one itself.
    package func run(_ screen: Screen) async throws {
        throw AdminFailure(.usage, "This is a console already. To go elsewhere: context NAME, or use CONTAINER")
    }
}
