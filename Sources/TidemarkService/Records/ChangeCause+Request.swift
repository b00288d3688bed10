// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkTelemetry

extension ChangeCause {
    package init(_ request: RequestUUID) { self.init(high: request.high, low: request.low) }

    /// The request, or the operator's command, for which the task runs. Nil: it runs for none.
    package static var current: ChangeCause? { RequestTrace.current.map { ChangeCause($0.uuid) } }
}

extension RequestUUID {
    /// As it is shown.
    package init(_ cause: ChangeCause) { self.init(high: cause.high, low: cause.low) }
}
