//! Addresses, routes and devices of the two ends.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Command, Stdio};

use strandcast_lab::simulation::End;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::error::{Error, why};

/// Address of the far end to which every path leads.
pub const FAR_HOST: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// IPv6 address of the far end to which every path leads.
pub const FAR_HOST_6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
/// Maximum number of paths of an emulated network. The third byte of an address is the number of a path.
pub const MAX_PATHS: usize = 254;
/// Maximum length of a device name in Linux.
const MAX_NAME: usize = 15;

/// A path as the two ends see it: a device with an address at each end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathDevice {
    /// Name of the device at both ends.
    name: String,
    /// Name of the path.
    path: String,
    /// Number of the path in addresses, counted from 1.
    number: u8,
}

impl PathDevice {
    /// Makes the devices of the paths, in the order of the paths. The name of a path is also the name of its device if
    /// Linux accepts it.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there are more than [`MAX_PATHS`] paths.
    pub(super) fn of(paths: &[String]) -> Result<Vec<PathDevice>, Error> {
        if paths.len() > MAX_PATHS {
            let line =
                format!("the flow has {} paths; an emulated network has at most {MAX_PATHS}", paths.len());
            return Err(Error::Usage(line));
        }
        let fits = |name: &str| {
            let number = name.strip_prefix("path").unwrap_or_default();
            let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let taken = numbered || ["lo", "all", "default"].contains(&name);
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
            !taken
                && name.len() <= MAX_NAME
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(plain)
        };
        let device = |(number, path): (u8, &String)| {
            let name = if fits(path) { path.clone() } else { format!("path{number}") };
            PathDevice { name, path: path.clone(), number }
        };
        Ok((1..=u8::MAX).zip(paths).map(device).collect())
    }

    /// Returns the name of the device, which is the same at both ends. It is the name of the path, or `path` with the
    /// number of the path if Linux does not accept the path's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the path in the scenario.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the IPv4 address of the device at an end.
    pub fn address(&self, end: End) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.number, last(end))
    }

    /// Returns the IPv6 address of the device at an end.
    pub fn address_6(&self, end: End) -> Ipv6Addr {
        Ipv6Addr::new(0xfd77, 0, 0, self.number.into(), 0, 0, 0, last(end).into())
    }

    /// Opens the device in the network namespace of this thread.
    ///
    /// # Errors
    /// Returns an error if the system refuses the device.
    pub(super) fn open(&self, mtu: u16) -> Result<SyncDevice, Error> {
        let device = DeviceBuilder::new().name(&self.name).mtu(mtu).enable(false).build_sync();
        device.map_err(|error| {
            let mend = match error.kind() {
                ErrorKind::NotFound => "; load the kernel's module: modprobe tun",
                ErrorKind::PermissionDenied => {
                    "; this user may not open /dev/net/tun: run it as root, or chmod 666 /dev/net/tun"
                }
                _ => "",
            };
            Error::Network(format!("cannot make the TUN device {}: {}{mend}", self.name, why(&error)))
        })
    }
}

fn last(end: End) -> u8 {
    match end {
        End::Near => 2,
        End::Far => 1,
    }
}

/// Gives the devices of an end their addresses and routes, in the network namespace of this thread.
///
/// # Errors
/// Returns an error if the program `ip` is missing or fails.
pub(super) fn configure(end: End, devices: &[PathDevice]) -> Result<(), Error> {
    for file in ["all/rp_filter", "default/rp_filter"] {
        // If the file system is read-only, the machine's own values stay in use.
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{file}"), "0");
    }
    // The kernel may not support IPv6.
    if Path::new("/proc/sys/net/ipv6").exists() {
        ip("-6", &batch(end, devices, Family::V6))?;
    }
    ip("-4", &batch(end, devices, Family::V4))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

/// Returns commands of `ip` for one address family, one command per line.
///
/// The near end has a route to every address over each device, and prefers the first path. Packets with the address of
/// a device leave by that device. A program that binds to the address of a device thus uses its path.
fn batch(end: End, devices: &[PathDevice], family: Family) -> String {
    let (host, bits, len, rest): (IpAddr, _, _, _) = match family {
        Family::V4 => (FAR_HOST.into(), 32, 24, ""),
        Family::V6 => (FAR_HOST_6.into(), 128, 64, " nodad"),
    };
    let mut all = String::from("link set lo up\n");
    if end == End::Far {
        let _ = writeln!(all, "address add {host}/{bits} dev lo");
    }
    for device in devices {
        let name = &device.name;
        let address = |end| -> IpAddr {
            match family {
                Family::V4 => device.address(end).into(),
                Family::V6 => device.address_6(end).into(),
            }
        };
        if family == Family::V6 {
            // A device that has no automatic IPv6 address sends no packets by itself.
            let _ = writeln!(all, "link set dev {name} addrgenmode none");
        }
        let _ = writeln!(all, "link set dev {name} up");
        let _ = writeln!(all, "address add {}/{len} dev {name}{rest}", address(end));
        if end == End::Near {
            let (own, peer, metric) = (address(end), address(other(end)), 100 * u32::from(device.number));
            let _ = writeln!(all, "route add default via {peer} dev {name} metric {metric}");
            let _ = writeln!(all, "route add default via {peer} dev {name} table {metric}");
            let _ = writeln!(all, "rule add from {own}/{bits} table {metric}");
        }
    }
    all
}

fn other(end: End) -> End {
    match end {
        End::Near => End::Far,
        End::Far => End::Near,
    }
}

/// Runs commands with the program `ip`.
fn ip(family: &str, commands: &str) -> Result<(), Error> {
    let failed = |what: &str| Error::Network(format!("ip: {what}"));
    let started = Command::new("ip")
        .args([family, "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut started = started.map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed("no such program; install iproute2"),
        _ => failed(&why(&error)),
    })?;
    if let Some(mut input) = started.stdin.take() {
        // If `ip` stops reading its input, it reports the reason when it ends.
        let _ = input.write_all(commands.as_bytes());
    }
    let done = started.wait_with_output().map_err(|error| failed(&why(&error)))?;
    if done.status.success() {
        return Ok(());
    }
    let lines = String::from_utf8_lossy(&done.stderr);
    Err(failed(lines.lines().next().unwrap_or("it failed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(names: &[&str]) -> Vec<PathDevice> {
        PathDevice::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn names_that_linux_does_not_take_become_numbers() {
        let names = ["wifi", "a-name-of-sixteen", "lo", "a/b", "path2", "x.1"];
        let made: Vec<String> = devices(&names).into_iter().map(|device| device.name).collect();
        assert_eq!(made, ["wifi", "path2", "path3", "path4", "path5", "x.1"]);
        assert!(PathDevice::of(&vec!["p".to_owned(); 255]).is_err());
    }

    #[test]
    fn the_near_end_has_a_route_per_path_and_the_far_end_an_address_for_all() {
        let near = batch(End::Near, &devices(&["wifi", "lte"]), Family::V4)
            + &batch(End::Near, &devices(&["wifi", "lte"]), Family::V6);
        for line in [
            "route add default via 10.77.2.1 dev lte metric 200",
            "rule add from 10.77.2.2/32 table 200",
            "rule add from fd77:0:0:2::2/128 table 200",
        ] {
            assert!(near.lines().any(|each| each == line), "{near}");
        }
        let far = batch(End::Far, &devices(&["wifi", "lte"]), Family::V4);
        assert!(far.contains("address add 10.77.0.1/32 dev lo\n"), "{far}");
        assert!(!far.contains("default") && !far.contains("fd77"), "{far}");
    }
}
