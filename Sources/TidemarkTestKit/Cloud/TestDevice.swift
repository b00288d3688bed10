// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
public import TidemarkKit

/// A device of a ``TestCloud``: the container that an app on it has, its network, and who is signed in.
public final class TestDevice: Sendable {
    /// As it was given to ``TestAccount/device(_:)``.
    public let name: String
    /// What the app under test is to work with; a real `CKContainer`. Each engine on its databases is a device of its own to
    /// the server, but shares this one's network.
    public let container: CKContainer
    private let core: TestCore
    package let line: DeviceLine

    init(_ name: String, token: String, in core: TestCore) {
        self.name = name
        self.core = core
        line = core.makeLine()
        container = CKContainer(context: core.makeContext(over: line, token: token))
    }

    // MARK: Network

    /// Whether there is a network.
    public var isOnline: Bool { line.isOnline }

    /// Cuts all connections; none begins until ``goOnline()``. When this has returned, requests fail at once with
    /// `networkUnavailable` or `networkFailure`, also while time stands still; those of utility or background quality of
    /// service wait, and engines keep what is pending. What was under way may have been carried out: it
    /// waits for the network until its time is over, by default 60 seconds of the cloud's clock.
    public func goOffline() {
        line.setOnline(false)
    }

    /// The network is back, and everybody on the device knows.
    public func goOnline() {
        line.setOnline(true)
        container.context.retryNow()
    }

    /// Breaks the connections that there are. What is under way is sent again over the next, which comes at once.
    public func cutConnections() {
        line.cut()
        core.retryNow()
    }

    /// The next answer to a request that saves or deletes something does not arrive, although the server has done it: its
    /// connection breaks. The request is sent again, and answered without being carried out twice.
    public func loseNextAnswer() {
        line.loseNextAnswer()
    }

    /// How many answers got lost because of ``loseNextAnswer()``: whether it has happened yet.
    public var lostAnswerCount: Int { line.lostAnswerCount }

    /// The server refuses every request of this device with `requestRateLimited` for so long, and says in
    /// `retryAfterSeconds` how much of it is left.
    public func throttle(for duration: Duration) {
        line.throttle(for: duration)
    }

    // MARK: Who is signed in

    /// Somebody else's account, or the same again, is signed in. Engines tell their delegates.
    public func signIn(_ account: TestAccount) {
        precondition(account.core === core, "The account \(account.name) is of another TestCloud.")
        container.signIn(token: account.token)
    }

    /// Nobody is signed in from now on. Engines tell their delegates.
    public func signOut() {
        container.signOut()
    }
}
