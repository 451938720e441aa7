//! Arguments of `schemes`.

#[derive(Debug, clap::Args)]
pub(crate) struct SchemesArgs {
    /// Presets or specs to describe, each with the keys that its parts have; default: a table of all presets
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// List the keys of all parts, also of those that are not chosen
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
