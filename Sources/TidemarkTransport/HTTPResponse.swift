// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP

/// A complete response to a request that is not an upgrade. The connection then ends. There is no second request, so
/// there is no request smuggling.
package struct HTTPResponse: Sendable {
    package var status: HTTPStatus
    package var fields: HeaderFields
    package var body: [UInt8]

    package init(_ status: HTTPStatus, fields: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A short text, ended by a line break.
    package static func text(_ status: HTTPStatus, _ text: String, fields: HeaderFields = HeaderFields())
        -> HTTPResponse
    {
        var fields = fields
        fields.append(name: "Content-Type", value: "text/plain; charset=utf-8")
        return HTTPResponse(status, fields: fields, body: Array((text + "\n").utf8))
    }

    /// The status as text.
    package static func plain(_ status: HTTPStatus, fields: HeaderFields = HeaderFields()) -> HTTPResponse {
        text(status, status.reason, fields: fields)
    }

    /// The response for a target that exists for GET and HEAD, or not at all. It is `found` if the method is one of
    /// these and the target exists, otherwise 404, 405 or 501 (RFC 9110 §9.1).
    package static func answer(_ head: RequestHead, found: HTTPResponse?) -> HTTPResponse {
        switch head.method {
        case "GET", "HEAD": found ?? plain(.notFound)
        case "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
            plain(.methodNotAllowed, fields: HeaderFields([("Allow", "GET, HEAD")]))
        default: plain(.notImplemented)
        }
    }

    /// The response as bytes.
    ///
    /// - Parameters:
    ///   - omitsBody: For HEAD: the same fields, and nothing after them (RFC 9110 §9.3.2).
    ///   - isSecured: Over TLS the response tells browsers never to connect without it (RFC 6797).
    func serialized(omitsBody: Bool, isSecured: Bool, wallClockMilliseconds: Int64) -> [UInt8] {
        var head = ResponseHead(status: status)
        // RFC 9110 §6.6.1: a server with a clock says when it answered.
        head.fields.append(name: "Date", value: HTTPDate.text(wallClockMilliseconds))
        var connection = ["close"]
        for field in fields.fields {
            if HeaderFields.isSame(field.name, "Connection") {
                connection.insert(field.value, at: 0)
            } else {
                head.fields.append(name: field.name, value: field.value)
            }
        }
        head.fields.append(name: "Connection", value: connection.joined(separator: ", "))
        head.fields.append(name: "Content-Length", value: String(body.count))
        if isSecured { head.fields.append(name: "Strict-Transport-Security", value: Self.strictTransport) }
        return head.serialized() + (omitsBody ? [] : body)
    }

    /// Two years, as browsers' preload lists require.
    static let strictTransport = "max-age=63072000"
}
