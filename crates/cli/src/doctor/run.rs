//! Runs an examination.

use strandcast::Error;
use strandcast::doctor::{Doctor, Wait};
use strandcast::pairing::{Destination, Store};
use strandcast_net::resolve::HostPort;

use super::page::page;
use crate::args::DoctorArgs;
use crate::error::CliError;
use crate::key::{Target, store};
use crate::print;

/// Finds the reason why a stream does not reach a receiver.
///
/// # Errors
/// Returns [`CliError::Unmet`] if there are findings.
pub(crate) async fn run(args: DoctorArgs) -> Result<(), CliError> {
    let mut doctor = Doctor::default();
    doctor.wait = match (args.quick, args.long) {
        (true, _) => Wait::None,
        (false, true) => Wait::Long,
        (false, false) => Wait::Short,
    };
    doctor.paths = args.paths.paths.clone();
    doctor.sctp_port = args.sctp_port;
    let store = store(args.key.as_deref())?;
    aim(&mut doctor, &args, &store)?;
    doctor.store = Some(store);
    if doctor.to.is_some() && !args.quick {
        let time = if args.long { "6 minutes" } else { "a minute" };
        print::line(&format!("this takes up to {time}; --quick leaves out the time of silence"));
    }
    let report = doctor.examine().await?;
    match args.json {
        true => print::json(&print::json_of(&report))?,
        false => print::text(&page(&report))?,
    }
    match report.findings.len() {
        0 => Ok(()),
        1 => Err(CliError::Unmet("1 finding".into())),
        n => Err(CliError::Unmet(format!("{n} findings"))),
    }
}

/// Sets the receiver.
///
/// # Errors
/// [`CliError::Usage`].
fn aim(doctor: &mut Doctor, args: &DoctorArgs, store: &Store) -> Result<(), CliError> {
    let usage = |what: &str| Err(CliError::Usage(what.to_owned()));
    match &args.to[..] {
        [] if args.plain => return usage("--plain needs an ADDRESS"),
        [] => {}
        [Target::Named(_)] if args.plain => return usage("--plain needs an ADDRESS, not @NAME"),
        [Target::Named(name)] => match Destination::named(store, name) {
            Ok(to) => {
                doctor.target = Some((to.label.clone(), to.hosts.clone()));
                doctor.to = Some(to);
            }
            // A finding of the report describes this error.
            Err(Error::Store(_)) => {}
            Err(error) => return Err(error.into()),
        },
        addresses => {
            let mut hosts: Vec<HostPort> = Vec::new();
            for target in addresses {
                match target {
                    Target::Host(host) => hosts.push(host.clone()),
                    Target::Named(_) => return usage("one @NAME, or any number of addresses"),
                    Target::Paired(_) => {
                        return usage("a pairing string is used once: strandcast key add NAME, then @NAME");
                    }
                }
            }
            let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            if let ([host], true) = (&hosts[..], args.plain) {
                doctor.to = Some(Destination::plain(host.clone()));
            } else if args.plain {
                return usage("--plain takes one ADDRESS");
            }
            doctor.target = Some((names.join(", "), hosts));
        }
    }
    Ok(())
}
