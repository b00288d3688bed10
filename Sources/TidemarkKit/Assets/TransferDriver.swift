// SPDX-License-Identifier: Apache-2.0

/// Decides about one transfer, as a function of its events.
protocol TransferMachine {
    associatedtype Event
    associatedtype Action
    associatedtype Outcome

    /// Nil until the transfer has ended.
    var outcome: Outcome? { get }

    /// - Returns: what to do, in this order. Only the last action leads to an event.
    mutating func handle(_ event: Event) -> [Action]
}

/// Carries out what a ``TransferMachine`` decides.
protocol TransferDriver {
    associatedtype Machine: TransferMachine

    /// - Returns: what happened, if the action leads to an event.
    mutating func perform(_ action: Machine.Action) async throws(CKError) -> Machine.Event?

    /// The event of an action that failed.
    func failure(_ error: CKError) -> Machine.Event
}

extension TransferDriver {
    /// Does what the machine decides until the transfer has ended.
    ///
    /// - Parameter begun: the machine's first event.
    mutating func run(_ machine: consuming Machine, from begun: Machine.Event) async -> Machine.Outcome {
        var event = begun
        while true {
            do throws(CKError) {
                for action in machine.handle(event) {
                    if let next = try await perform(action) { event = next }
                }
            } catch {
                event = failure(error)
            }
            if let outcome = machine.outcome { return outcome }
        }
    }
}
