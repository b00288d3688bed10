// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// The protocols that are offered or accepted by ALPN, in the form of RFC 7301 §3.1: each after a byte with its length.
final class ApplicationProtocols: Sendable {
    /// Best first. Each has 1 to 255 bytes.
    private let names: [[UInt8]]

    init(_ names: [String]) throws(TLSError) {
        self.names = names.map { Array($0.utf8) }
        guard self.names.allSatisfy({ (1...255).contains($0.count) }) else {
            throw TLSError(.configurationInvalid, detail: "application protocol")
        }
    }

    /// Makes a client offer these protocols. False if memory has run out.
    func offer(_ context: OpaquePointer) -> Bool {
        let list = names.flatMap { [UInt8($0.count)] + $0 }
        // NB: 0 means success here, unlike everywhere else.
        return list.isEmpty || SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0
    }

    /// Makes a server choose among these protocols. `self` must outlive every session of the context.
    func serve(_ context: OpaquePointer) {
        guard !names.isEmpty else { return }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenCount, offered, offeredCount, argument in
                guard let argument, let chosen, let chosenCount else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                let protocols = Unmanaged<ApplicationProtocols>.fromOpaque(argument).takeUnretainedValue()
                return protocols.choose(offered, offeredCount, chosen, chosenCount)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The first of our protocols that the client offers. The result points into the client's hello, which libssl owns.
    private func choose(
        _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ chosenCount: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        let offers = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
        for name in names {
            var position = 0
            while position < offers.count {
                let start = position + 1
                let end = start + Int(offers[position])
                guard end <= offers.count else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                if offers[start..<end].elementsEqual(name) {
                    chosen.pointee = offers.baseAddress.map { $0 + start }
                    chosenCount.pointee = UInt8(name.count)
                    return SSL_TLSEXT_ERR_OK
                }
                position = end
            }
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
