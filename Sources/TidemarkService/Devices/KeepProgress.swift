// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// What servers have kept of these devices.
    package func deviceProgress(
        of devices: [AccountDevice]
    ) async -> Result<[AccountDevice: DeviceProgress], FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.deviceProgress(of: devices)) }
    }

    /// Keeps what this server knows of devices.
    ///
    /// - Returns: whether it is kept.
    package func keepProgress(_ progress: [AccountDevice: DeviceProgress]) async -> Bool {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let kept = await retry.run { () async throws(StorageError) -> Result<Void, FailureReason> in
            try await storage.keepProgress(progress, now: now)
            return .success(())
        }
        if case .success = kept { return true }
        return false
    }
}
