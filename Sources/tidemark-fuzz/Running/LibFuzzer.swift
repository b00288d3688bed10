// SPDX-License-Identifier: Apache-2.0

#if TIDEMARK_LIBFUZZER
    /// The library's own main function, without its main.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    /// Hands a fuzzer to libFuzzer, which watches which code an input reaches. A finding ends the process, and its
    /// input is kept in a file.
    enum LibFuzzer {
        /// Written once, before the library starts to call.
        nonisolated(unsafe) private static var body: (@Sendable ([UInt8]) throws(Finding) -> Bool)?

        static func run(_ fuzzer: Fuzzer) -> CInt {
            body = fuzzer.body
            var count = CommandLine.argc - 1
            // The name of the fuzzer is ours; the library is given what stands after it.
            var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
            return runDriver(&count, &arguments) { bytes, count in
                LibFuzzer.attempt(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            }
        }

        private static func attempt(_ input: [UInt8]) {
            do throws(Finding) {
                _ = try body?(input)
            } catch {
                preconditionFailure("\(error)")
            }
        }
    }
#endif
