// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
internal import TidemarkWire

extension ConnectionMachine {
    /// The reason why there is no answer.
    struct RequestFailure: Error, Equatable {
        enum Code: Equatable {
            /// Never sent: no connection.
            case offline
            /// Sent, no answer in time; for a request that changes nothing.
            case timedOut
            /// Sent, no answer in time; it may have been carried out.
            case answerLost
            /// A part of an upload whose answer was lost with the connection. The server must be asked how far it is.
            case cut
            case cancelled
            /// Meant for another account than the one that is signed in now.
            case otherAccount
            /// The server refused the connection, or this device did not send what the server would refuse.
            case refused(WireErrorCode)
        }

        let code: Code
        var message = ""
        var retryAfter: Double = 0
        /// For a refusal: whether the server refused the connection, and not this request.
        var isOfGreeting = false
        /// For a refusal: whether the server refused a credential. False if there was none.
        var hasCredential = true
        /// Why a credential was refused, if the server says it.
        var signInProblem = WireSignInProblem.unspecified
        /// Why the server was not reached, if it was not.
        var fault: ConnectionFault?
        /// The request, as it was named when it was last sent. The refusal of a connection names its Hello.
        var request: RequestUUID?
        /// The server that the failure is about, for the text of the error.
        var serverName: String?
    }
}
