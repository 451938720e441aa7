//! Descriptions of schemes as JSON, for `strandcast schemes --json` and the Python package.

use serde_json::{Value, json};
use strandcast_keys::catalog::{Catalog, CatalogError, DescribedKey, Description};

/// Describes the schemes that `specs` name. If `specs` is empty, describes all presets.
///
/// # Errors
/// Returns one line that names the mistake in a spec.
pub fn schemes_json(catalog: &dyn Catalog, specs: &[String]) -> Result<String, CatalogError> {
    let all: Vec<Result<Description, CatalogError>> = match specs {
        [] => catalog.names().into_iter().map(|name| catalog.describe(name)).collect(),
        some => some.iter().map(|spec| catalog.describe(spec)).collect(),
    };
    let all: Vec<Value> = all.into_iter().map(|scheme| scheme.map(as_json)).collect::<Result<_, _>>()?;
    Ok(format!("{:#}\n", json!({ "schemes": all })))
}

fn as_json(scheme: Description) -> Value {
    let key = |key: &DescribedKey| json!({ "name": key.name, "default": key.default, "values": key.values, "summary": key.summary });
    let parts: serde_json::Map<String, Value> =
        scheme.parts.into_iter().map(|(role, part)| (role.to_owned(), json!(part))).collect();
    json!({
        "name": scheme.name, "paper": scheme.paper, "summary": scheme.summary, "parts": parts,
        "parameters": scheme.keys.iter().map(key).collect::<Vec<_>>(),
    })
}
