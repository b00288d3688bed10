// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkDomain

/// Limits of one request.
///
/// The lower bounds keep what clients rely on. A sync engine sends batches of 250 records and 1.5 MB, and a message is
/// not longer than 4 MiB.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Records that one request may save, delete or fetch.",
            discussion: "250 to 4000. Default: 400.", valueName: "count"))
    var requestItems: Int?

    @Option(
        help: ArgumentHelp(
            "The size of all fields in one request's records.",
            discussion: "In kilobytes, 1536 to 3072. Default: 2048.",
            valueName: "kilobytes"))
    var requestKilobytes: Int?

    @Option(
        help: ArgumentHelp(
            "Containers that an account may have before the server creates no more for it (see --create-containers).",
            discussion: "Default: 100.", valueName: "count"))
    var containersPerAccount: Int?

    func apply(to limits: inout Limits) throws(AdminFailure) {
        limits.itemsMax = try Setting.number(
            requestItems, "--request-items", default: limits.itemsMax, in: 250...4_000)
        let kilobytes = try Setting.number(
            requestKilobytes, "--request-kilobytes",
            default: limits.requestBytesMax / 1_024, in: 1_536...3_072)
        limits.requestBytesMax = kilobytes * 1_024
        limits.containersMax = try Setting.number(
            containersPerAccount, "--containers-per-account",
            default: limits.containersMax, in: 1...1_000_000)
    }
}
