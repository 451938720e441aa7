//! Files, written and read back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::result::tests::{flow, run, runs, scenario};
use crate::result::{Subject, Summary};

/// A folder of its own for a test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("strandcast-results-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn parquet_reads_back() {
    let folder = Folder::new("parquet");
    let output = Output::create(folder.0.clone(), Format::Parquet).unwrap();
    let runs = runs();
    output.finish(&Summary::of(scenario(), "1", 1, &runs), &runs).unwrap();
    assert_eq!(names(&folder.0), ["result.json", "runs.parquet", "summary.parquet"]);

    let batches = read(&folder.0.join("runs.parquet"));
    let batch = &batches[0];
    assert_eq!((batches.len(), batch.num_rows()), (1, 20));
    let columns: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(columns, ["scheme", "seed", "subject_kind", "subject", "part", "metric", "value"]);
    let text = |column: usize, row| batch.column(column).as_string::<i32>().value(row).to_owned();
    // The second row: the path of cmt's first run.
    assert_eq!([0, 2, 3, 4, 5].map(|column| text(column, 1)), ["cmt", "path", "video", "wifi", "share"]);
    assert_eq!([2, 3, 4].map(|column| text(column, 4)), ["share", "b", "forward/video"]);
    assert_eq!(batch.column(1).as_primitive::<UInt64Type>().value(1), 1);
    assert_eq!(batch.column(6).as_primitive::<Float64Type>().values()[..2], [1e6, 0.25]);

    let batch = &read(&folder.0.join("summary.parquet"))[0];
    let number =
        |name: &str, row| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().value(row);
    assert_eq!([number("mean", 0), number("median", 0)], [1.5e6; 2]);
    // s² = 2 · 500000² / (2 - 1)
    assert!((number("sd", 0) - 0.5e6 * 2_f64.sqrt()).abs() < 1e-6);
    assert_eq!(batch.num_rows(), 10);
}

#[test]
fn a_single_run_has_no_interval() {
    let folder = Folder::new("single");
    let output = Output::create(folder.0.clone(), Format::Parquet).unwrap();
    let runs = [run("a", 1, &[(flow("f"), "goodput_bps", 1.0), (flow("f"), "share", f64::NAN)])];
    output.finish(&Summary::of(scenario(), "1", 1, &runs), &runs).unwrap();
    let summary = &read(&folder.0.join("summary.parquet"))[0];
    assert_eq!(summary.num_rows(), 1);
    assert!(["ci95", "sd"].iter().all(|name| summary.column_by_name(name).unwrap().is_null(0)));
    let values = read(&folder.0.join("runs.parquet"))[0].column(6).clone();
    assert_eq!((values.len(), values.is_null(1)), (2, true));
}

#[test]
fn csv_quotes_what_needs_it() {
    let folder = Folder::new("csv");
    let output = Output::create(folder.0.clone(), Format::Csv).unwrap();
    let runs =
        [run("cmt,rtx=cwnd", 7, &[(flow("a \"b\""), "goodput_bps", 0.1), (flow("f"), "share", f64::NAN)])];
    output.finish(&Summary::of(scenario(), "1", 7, &runs), &runs).unwrap();
    assert_eq!(
        fs::read_to_string(folder.0.join("runs.csv")).unwrap(),
        "scheme,seed,subject_kind,subject,part,metric,value\n\
         \"cmt,rtx=cwnd\",7,flow,\"a \"\"b\"\"\",,goodput_bps,0.1\n\
         \"cmt,rtx=cwnd\",7,flow,f,,share,\n"
    );
    assert_eq!(
        fs::read_to_string(folder.0.join("summary.csv")).unwrap(),
        "scheme,subject_kind,subject,part,metric,n,mean,ci95,sd,median,low,high,nonzero,equal\n\
         \"cmt,rtx=cwnd\",flow,\"a \"\"b\"\"\",,goodput_bps,1,0.1,,,0.1,0.1,0.1,1,1\n"
    );
}

/// More rows than a row group has.
#[test]
fn series_are_streamed() {
    const ROWS: usize = 150_000;
    for format in [Format::Parquet, Format::Csv] {
        let folder = Folder::new(&format!("series-{}", format.extension()));
        let output = Output::create(folder.0.clone(), format).unwrap();
        let mut series = output.series("cmt,rtx=cwnd", 3).unwrap();
        let subject = Subject::Path { flow: "video".into(), path: "wifi".into() };
        for i in 0..ROWS {
            series.push(i as f64 / 4.0, &subject, "cwnd_bytes", i as f64).unwrap();
        }
        let file = format!("cmt_rtx=cwnd-3.{}", format.extension());
        let part = folder.0.join("series").join(format!("{file}.part"));
        assert!(fs::metadata(&part).unwrap().len() > 1000, "something is on disk already");
        series.finish().unwrap();
        assert_eq!(names(&folder.0.join("series")), [file.as_str()]);
        let path = folder.0.join("series").join(file);
        if format == Format::Csv {
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(text.lines().count(), ROWS + 1);
            assert_eq!(text.lines().nth(2), Some("\"cmt,rtx=cwnd\",3,0.25,path,video,wifi,cwnd_bytes,1"));
        } else {
            let batches = read(&path);
            let values = |name: &str| -> Vec<f64> {
                let column = |batch: &RecordBatch| batch.column_by_name(name).unwrap().clone();
                batches
                    .iter()
                    .flat_map(|b| column(b).as_primitive::<Float64Type>().values().to_vec())
                    .collect()
            };
            assert!(values("value").into_iter().eq((0..ROWS).map(|i| i as f64)));
            assert!(values("time_s").into_iter().eq((0..ROWS).map(|i| i as f64 / 4.0)));
        }
    }
}

#[test]
fn what_is_not_finished_is_not_there() {
    let folder = Folder::new("dropped");
    let output = Output::create(folder.0.clone(), Format::Parquet).unwrap();
    let mut series = output.series("a", 1).unwrap();
    series.push(0.0, &flow("f"), "cwnd_bytes", 1.0).unwrap();
    drop(series);
    assert_eq!(names(&folder.0.join("series")), [""; 0]);
}

#[test]
fn what_cannot_be_written_is_one_clear_error_and_the_rest_stays() {
    let folder = Folder::new("blocked");
    let output = Output::create(folder.0.clone(), Format::Csv).unwrap();
    let runs = runs();
    // A folder where the file should be.
    fs::create_dir(folder.0.join("summary.csv")).unwrap();
    let error = output.finish(&Summary::of(scenario(), "1", 1, &runs), &runs).unwrap_err().to_string();
    let summary = folder.0.join("summary.csv");
    assert!(error.starts_with(&format!("cannot write {}: ", summary.display())), "{error}");
    assert_eq!(names(&folder.0), ["runs.csv", "summary.csv"]);
    assert!(Output::create(folder.0.join("runs.csv"), Format::Csv).is_err());
}
