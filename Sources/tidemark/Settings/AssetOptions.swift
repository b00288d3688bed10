// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Where assets are stored, and how long assets are kept that no record names.
struct AssetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory of assets. All servers of a database have the same.",
            discussion: "Or TIDEMARK_ASSET_DIRECTORY. Without it, assets are refused.", valueName: "directory"))
    var assetDirectory: String?

    @Option(
        help: ArgumentHelp(
            "How long an asset is kept that no record names.",
            discussion: "Or TIDEMARK_ASSET_GRACE_HOURS. Default: 24.", valueName: "hours"))
    var assetGraceHours: Int?

    /// Nil if it is not set.
    var directory: String? { Setting.optional(assetDirectory, "--asset-directory") }

    func requiredDirectory() throws(CommandError) -> String {
        try Setting.required(assetDirectory, "--asset-directory")
    }

    func grace() throws(CommandError) -> Duration {
        let hours = try Setting.number(
            assetGraceHours, "--asset-grace-hours", default: 24, in: 0...87_600)
        return .seconds(hours * 3_600)
    }
}
