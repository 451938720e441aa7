-- OBS Studio: the video's bit rate follows the advice of `strandcast send --advice FILE`.
--
-- Tools, Scripts, +: choose this file, and then FILE. The rate changes while OBS streams; a rate that the links do not
-- carry is left at once, and a higher one is taken as the advice rises.

obs = obslua

local file, share, audio, least, most = "", 90, 160, 300, 6000
local applied = nil

function script_description()
    return "Sets the video bit rate to what the links carry, as `strandcast send --advice FILE` advises."
end

function script_properties()
    local all = obs.obs_properties_create()
    obs.obs_properties_add_path(all, "file", "FILE of --advice", obs.OBS_PATH_FILE, "*", nil)
    obs.obs_properties_add_int(all, "share", "Share of the advised rate (%)", 50, 100, 1)
    obs.obs_properties_add_int(all, "audio", "Audio (kbit/s)", 0, 1000, 1)
    obs.obs_properties_add_int(all, "least", "Least video rate (kbit/s)", 50, 100000, 50)
    obs.obs_properties_add_int(all, "most", "Greatest video rate (kbit/s)", 50, 100000, 50)
    return all
end

function script_defaults(settings)
    obs.obs_data_set_default_string(settings, "file", "/run/strandcast/advice.json")
    obs.obs_data_set_default_int(settings, "share", share)
    obs.obs_data_set_default_int(settings, "audio", audio)
    obs.obs_data_set_default_int(settings, "least", least)
    obs.obs_data_set_default_int(settings, "most", most)
end

-- The video rate in kbit/s for a line of advice; nil for anything else.
function video_rate(line)
    local advised = line and line:match('"rate_bps":%s*(%d+)')
    if not advised then
        return nil
    end
    local rate = math.floor(tonumber(advised) / 1000 * share / 100 - audio)
    return math.max(least, math.min(most, rate))
end

function newest()
    local opened = io.open(file, "r")
    if not opened then
        return nil
    end
    local line = opened:read("*l")
    opened:close()
    return line
end

function apply(rate)
    local output = obs.obs_frontend_get_streaming_output()
    if not output then
        return
    end
    local encoder = obs.obs_output_get_video_encoder(output)
    if encoder and obs.obs_output_active(output) then
        local settings = obs.obs_encoder_get_settings(encoder)
        obs.obs_data_set_int(settings, "bitrate", rate)
        obs.obs_encoder_update(encoder, settings)
        obs.obs_data_release(settings)
        applied = rate
    else
        -- The next stream begins with the rate of its settings.
        applied = nil
    end
    obs.obs_output_release(output)
end

function follow()
    local rate = video_rate(newest())
    -- Encoders take a while for each change: less than 2 % is none.
    if rate and (not applied or math.abs(rate - applied) > applied * 0.02) then
        apply(rate)
    end
end

function script_update(settings)
    file = obs.obs_data_get_string(settings, "file")
    share = obs.obs_data_get_int(settings, "share")
    audio = obs.obs_data_get_int(settings, "audio")
    least = obs.obs_data_get_int(settings, "least")
    most = obs.obs_data_get_int(settings, "most")
    obs.timer_remove(follow)
    obs.timer_add(follow, 250)
end
