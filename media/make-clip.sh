#!/bin/sh
# Makes clip.ts from ffmpeg's synthetic sources: `./make-clip.sh [OUTPUT]` (default: clip.ts beside this script).
# README.md says what the options are for and what came out.
set -eu
out=${1:-"$(dirname "$0")/clip.ts"}

pattern="testsrc2=size=640x360:rate=25"
zoom="mandelbrot=size=320x180:rate=25:start_scale=1:end_scale=0.002:end_pts=600"

ffmpeg -hide_banner -loglevel error -nostdin -y \
    -filter_complex "$pattern[back];$zoom[front];[back][front]overlay=x=300:y=160,format=yuv420p" \
    -frames:v 600 \
    -c:v libx264 -threads 1 -preset slow -profile:v main \
    -g 25 -keyint_min 25 -sc_threshold 0 -bf 2 -x264-params aud=1:open-gop=0 \
    -b:v 910k -minrate 910k -maxrate 910k -bufsize 455k \
    -flags +bitexact -fflags +bitexact -map_metadata -1 \
    -metadata service_provider=Strandcast -metadata service_name=clip \
    -f mpegts -muxrate 1000000 -pcr_period 20 -muxdelay 0.7 -muxpreload 0.7 \
    "$out"
