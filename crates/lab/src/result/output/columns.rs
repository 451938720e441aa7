//! Tables row by row.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::OutputError;
use super::file::Pending;

/// Greatest number of rows that wait for encoding. Also the greatest number of rows whose encoded columns wait for
/// writing. These rows determine the memory of a table.
const BATCH: usize = 8_192;
const ROW_GROUP: usize = 65_536;

/// File format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values (RFC 4180) with a header line. Absent values are empty.
    Csv,
}

impl Format {
    /// Suffix of the format's files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    /// A number. `None` if it is absent.
    Number(Option<f64>),
    Count(u64),
}

/// Type of a column. All of its cells have this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Count,
}

/// Writes a table.
#[derive(Debug)]
pub(super) struct Table {
    // This field comes before `pending`, so that the file is closed before it is removed.
    sink: Sink,
    pending: Pending,
}

#[derive(Debug)]
enum Sink {
    Parquet { columns: Columns, writer: Box<ArrowWriter<File>> },
    Csv(BufWriter<File>),
}

/// Rows that are being converted to columns.
#[derive(Debug)]
pub(super) struct Columns {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    rows: usize,
}

#[derive(Debug)]
enum Column {
    Text(StringBuilder),
    Number(Float64Builder),
    Count(UInt64Builder),
}

impl Table {
    /// Begins the table `stem` in `folder`.
    pub fn create(
        folder: &Path,
        stem: &str,
        format: Format,
        columns: &[(&str, Kind)],
    ) -> Result<Self, OutputError> {
        let (pending, file) = Pending::create(folder.join(format!("{stem}.{}", format.extension())))?;
        let sink = Sink::new(file, format, columns).map_err(|error| pending.error(error))?;
        Ok(Table { sink, pending })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[Cell<'_>]) -> Result<(), OutputError> {
        self.sink.push(row).map_err(|error| self.pending.error(error))
    }

    /// Ends the table. From then on, the file has its final name.
    pub fn finish(self) -> Result<(), OutputError> {
        match self.sink.finish() {
            Ok(()) => self.pending.complete(),
            Err(error) => Err(self.pending.error(error)),
        }
    }
}

impl Sink {
    fn new(file: File, format: Format, columns: &[(&str, Kind)]) -> io::Result<Self> {
        if format == Format::Csv {
            let mut file = BufWriter::new(file);
            let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
            writeln!(file, "{}", names.join(","))?;
            return Ok(Sink::Csv(file));
        }
        let columns = Columns::new(columns);
        let properties = WriterProperties::builder()
            .set_created_by("strandcast".into())
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .build();
        let writer =
            ArrowWriter::try_new(file, columns.schema.clone(), Some(properties)).map_err(io_error)?;
        Ok(Sink::Parquet { columns, writer: Box::new(writer) })
    }

    fn push(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        match self {
            Sink::Csv(file) => write_line(file, row),
            Sink::Parquet { columns, .. } => {
                columns.push(row);
                if columns.rows < BATCH { Ok(()) } else { self.encode() }
            }
        }
    }

    /// Encodes full columns and passes them to the writer.
    fn encode(&mut self) -> io::Result<()> {
        let Sink::Parquet { columns, writer } = self else { return Ok(()) };
        writer.write(&columns.batch()).map_err(io_error)
    }

    fn finish(mut self) -> io::Result<()> {
        self.encode()?;
        match self {
            Sink::Csv(mut file) => file.flush(),
            Sink::Parquet { writer, .. } => writer.close().map(drop).map_err(io_error),
        }
    }
}

impl Columns {
    /// Creates columns without rows.
    pub fn new(columns: &[(&str, Kind)]) -> Self {
        let field = |&(name, kind): &(&str, Kind)| match kind {
            Kind::Text => Field::new(name, DataType::Utf8, false),
            Kind::Number => Field::new(name, DataType::Float64, true),
            Kind::Count => Field::new(name, DataType::UInt64, false),
        };
        let column = |&(_, kind): &(&str, Kind)| match kind {
            Kind::Text => Column::Text(StringBuilder::new()),
            Kind::Number => Column::Number(Float64Builder::new()),
            Kind::Count => Column::Count(UInt64Builder::new()),
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Columns { schema, columns: columns.iter().map(column).collect(), rows: 0 }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[Cell<'_>]) {
        for (column, &cell) in self.columns.iter_mut().zip(row) {
            match (column, cell) {
                (Column::Text(column), Cell::Text(text)) => column.append_value(text),
                (Column::Number(column), Cell::Number(number)) => column.append_option(number),
                (Column::Count(column), Cell::Count(count)) => column.append_value(count),
                (column, cell) => unreachable!("{cell:?} in {column:?}: rows are made in this module"),
            }
        }
        self.rows += 1;
    }

    /// Removes the rows so far and returns them.
    pub fn batch(&mut self) -> RecordBatch {
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(|column| match column {
            Column::Text(column) => Arc::new(column.finish()) as ArrayRef,
            Column::Number(column) => Arc::new(column.finish()),
            Column::Count(column) => Arc::new(column.finish()),
        });
        RecordBatch::try_new(self.schema.clone(), arrays.collect())
            .expect("every row has a cell of its kind for each column")
    }
}

fn write_line(file: &mut impl Write, row: &[Cell<'_>]) -> io::Result<()> {
    for (i, cell) in row.iter().enumerate() {
        if i > 0 {
            file.write_all(b",")?;
        }
        match cell {
            Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                write!(file, "\"{}\"", text.replace('"', "\"\""))?;
            }
            Cell::Text(text) => file.write_all(text.as_bytes())?,
            Cell::Number(Some(number)) => write!(file, "{number}")?,
            Cell::Number(None) => {}
            Cell::Count(count) => write!(file, "{count}")?,
        }
    }
    file.write_all(b"\n")
}

/// Extracts the I/O error of the file, if there is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner as Box<dyn Error + Send + Sync>),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux has a device that is always full. It stands for a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_in_its_own_words() {
        let columns = [("text", Kind::Text), ("value", Kind::Number)];
        for format in [Format::Parquet, Format::Csv] {
            let write = || -> io::Result<()> {
                let file = File::options().write(true).open("/dev/full")?;
                let mut sink = Sink::new(file, format, &columns)?;
                for i in 0..200_000 {
                    sink.push(&[Cell::Text("abc"), Cell::Number(Some(f64::from(i)))])?;
                }
                sink.finish()
            };
            assert_eq!(write().unwrap_err().kind(), io::ErrorKind::StorageFull, "{format:?}");
        }
    }
}
