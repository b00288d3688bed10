// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin

/// The file in which settings of a server are.
struct SettingsFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with settings, in YAML or JSON. What is given otherwise wins over it.",
            discussion: "Or TIDEMARK_CONFIG. Default: \(SettingsFile.usualPath), if it exists.", valueName: "file"))
    var config: String?

    /// Reads the file, whose values count from now on. A mistake in it ends the program, with its line.
    ///
    /// - Returns: its path; nil if there is none.
    @discardableResult
    func begin() throws(AdminFailure) -> String? {
        let file = try SettingsFile.chosen(config, variables: ProcessInfo.processInfo.environment)
        try file?.check()
        Setting.use(file)
        return file?.path
    }
}
