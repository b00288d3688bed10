// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTelemetry

/// The UUID of a request, or of an operator's command, on a command line: as errors, lines of the log and traces have it.
struct RequestArgument: ExpressibleByArgument, CustomStringConvertible, Sendable {
    let uuid: RequestUUID

    init?(argument: String) {
        guard let uuid = RequestUUID(argument) else { return nil }
        self.uuid = uuid
    }

    var cause: ChangeCause { ChangeCause(uuid) }
    var description: String { "\(uuid)" }
}
