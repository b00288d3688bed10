// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkDomain

/// Limits of one request.
///
/// The lower bounds keep what clients rely on. A sync engine sends batches of 250 records and 1.5 MB, and a message is
/// not longer than 4 MiB.
struct LimitOptions: ParsableArguments {
    @Option(help: ServeSetting.help("request-items")) var requestItems: Int?

    @Option(help: ServeSetting.help("request-kilobytes")) var requestKilobytes: Int?

    @Option(help: ServeSetting.help("containers-per-account")) var containersPerAccount: Int?

    @Option(help: ServeSetting.help("requests-per-second")) var requestsPerSecond: Int?

    @Option(help: ServeSetting.help("request-burst")) var requestBurst: Int?

    func apply(to limits: inout Limits) throws(AdminFailure) {
        limits.itemsMax = try Setting.number(
            requestItems, "--request-items", default: limits.itemsMax)
        let kilobytes = try Setting.number(
            requestKilobytes, "--request-kilobytes",
            default: limits.requestBytesMax / 1_024)
        limits.requestBytesMax = kilobytes * 1_024
        limits.containersMax = try Setting.number(
            containersPerAccount, "--containers-per-account",
            default: limits.containersMax)
        limits.requestsPerSecond = try Setting.number(
            requestsPerSecond, "--requests-per-second", default: limits.requestsPerSecond)
        limits.requestBurst = try Setting.number(requestBurst, "--request-burst", default: limits.requestBurst)
        guard limits.requestBurst == 0 || limits.requestsPerSecond > 0 else {
            throw AdminFailure(.usage, "--request-burst is for --requests-per-second. Give that too.")
        }
    }
}
