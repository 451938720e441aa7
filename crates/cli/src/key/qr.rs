//! QR codes on a terminal. Each character shows two modules, one above the other.

use qrcode::{Color, EcLevel, QrCode};

/// Width of the border of light modules around the code (ISO/IEC 18004 §5.3.8).
const QUIET: usize = 4;
/// Black on white, for a terminal with any colours. Scanners need dark modules on a light background.
const BLACK_ON_WHITE: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// Returns the lines of a QR code for `text`, each with its colours. Returns `None` if a terminal with `columns`
/// columns is too narrow.
pub(super) fn lines(text: &str, columns: usize) -> Option<Vec<String>> {
    // A capital letter or digit takes 5.5 bits, and any other character takes eight bits (ISO/IEC 18004 §7.4.4).
    let code = QrCode::with_error_correction_level(text.to_uppercase(), EcLevel::L).ok()?;
    let rows = rows(&code.to_colors(), code.width());
    let fits = code.width() + 2 * QUIET <= columns;
    fits.then(|| rows.iter().map(|row| format!("{BLACK_ON_WHITE}{row}{RESET}")).collect())
}

/// Draws the modules as half blocks, with a border of light modules.
fn rows(modules: &[Color], width: usize) -> Vec<String> {
    let all = width + 2 * QUIET;
    let dark = |x: usize, y: usize| {
        let inside = |v: usize| (QUIET..QUIET + width).contains(&v);
        inside(x) && inside(y) && modules[(y - QUIET) * width + (x - QUIET)] == Color::Dark
    };
    let block = |x, y| match (dark(x, y), dark(x, y + 1)) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    (0..all).step_by(2).map(|y| (0..all).map(|x| block(x, y)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the modules that a terminal shows: the upper half and the lower half of each row.
    fn shown(rows: &[String]) -> Vec<Vec<bool>> {
        let halves = |row: &String| {
            let upper = row.chars().map(|c| matches!(c, '█' | '▀')).collect();
            let lower = row.chars().map(|c| matches!(c, '█' | '▄')).collect();
            [upper, lower]
        };
        rows.iter().flat_map(halves).collect()
    }

    #[test]
    fn every_module_is_shown_where_it_is() {
        let code = QrCode::with_error_correction_level("SC1-0123456789", EcLevel::L).unwrap();
        let (modules, width) = (code.to_colors(), code.width());
        let shown = shown(&rows(&modules, width));
        for (y, row) in shown.iter().enumerate() {
            assert_eq!(row.len(), width + 2 * QUIET);
            for (x, dark) in row.iter().enumerate() {
                let module = (x.checked_sub(QUIET), y.checked_sub(QUIET));
                let expected = match module {
                    (Some(x), Some(y)) if x < width && y < width => modules[y * width + x] == Color::Dark,
                    _ => false,
                };
                assert_eq!(*dark, expected, "{x}, {y}");
            }
        }
        // The finder pattern in the corner has seven dark modules and a ring of light modules (ISO/IEC 18004 §5.3.2).
        assert!(shown[QUIET][QUIET..QUIET + 7].iter().all(|dark| *dark) && !shown[QUIET][QUIET + 7]);
        assert!(!shown[QUIET + 1][QUIET + 1] && shown[QUIET + 2][QUIET + 2]);
    }

    #[test]
    fn a_pairing_fits_a_terminal_of_80_columns_and_no_narrower_one_than_its_width() {
        let text = format!("sc1-{}", "0z".repeat(62));
        // Version 5 has 37 modules per side, and holds 154 characters in capitals at the lowest correction level
        // (ISO/IEC 18004, table 7).
        assert_eq!(lines(&text, 80).unwrap().len(), (37 + 2 * QUIET).div_ceil(2));
        assert!(lines(&text, 37 + 2 * QUIET).is_some() && lines(&text, 36 + 2 * QUIET).is_none());
    }
}
